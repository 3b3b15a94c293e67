import { type Insertable, sql } from "kysely";

import type { DocumentRecord, StockMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { appendEvents } from "../events/append-events.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import type { StockMovementsTable } from "../tables/records.ts";
import {
  contentOf,
  DECIDED,
  DOCUMENT_SAVED,
  documentColumns,
  lineColumns,
  movementColumns,
  movementsOf,
  subjectOf,
} from "./columns.ts";

/** Far below the parameters that one statement may have (65,535). */
const ROWS_A_STATEMENT = 1_000;

/**
 * `older`: a later state of the document is kept already. `of-another`: the number is that of another sale's credit note, which exists, and
 * this one does not.
 */
export type SaveAnswer = "saved" | "unchanged" | "older" | "of-another";

/** Keeps a document as its workflow knows it, and tells of it in the business's events. To be repeated freely. */
export async function save(
  db: Queries,
  business: Business,
  record: DocumentRecord,
  writer: Writer,
): Promise<SaveAnswer> {
  const key = { ...businessColumns(business), type: record.type, number: storableText(record.number) };
  await lockDocument(db, key);
  const kept = await db
    .selectFrom("documents")
    .select(["as_of", "sequence", "event_number", "document_id", "original_document_id"])
    .where(whereDocument(key))
    .executeTakeFirst();
  const history = historyOf(record, writer);
  const asOfMs = kept?.as_of.getTime() ?? 0;
  const content = contentOf(record);
  const columns = documentColumns(content);
  const ofAnother = kept !== undefined && kept.original_document_id !== columns.original_document_id;
  if (ofAnother && kept.document_id !== null && columns.document_id === null) {
    await appendEvents(db, business, history);
    return "of-another";
  }
  if (kept && !ofAnother && (asOfMs > record.asOfMs || (asOfMs === record.asOfMs && kept.sequence > record.sequence))) {
    await appendEvents(db, business, history);
    return "older";
  }
  const current = { as_of: new Date(record.asOfMs), sequence: record.sequence };
  if (kept && (await saysTheSame(db, key, kept.event_number, canonicalJson(content)))) {
    await appendEvents(db, business, history);
    await db.updateTable("documents").set(current).where(whereDocument(key)).execute();
    return "unchanged";
  }
  const saved: NewEvent = { kind: DOCUMENT_SAVED, subject: subjectOf(record), content, writer };
  const [number = 0] = await appendEvents(db, business, [saved, ...history]);
  const wrote = { workflow_id: storableText(writer.workflowId), run_id: storableText(writer.runId) };
  const row = { ...columns, ...current, ...wrote, event_number: number };
  await db
    .insertInto("documents")
    .values({ ...key, ...row })
    .onConflict((conflict) => conflict.columns(["connection", "business_id", "type", "number"]).doUpdateSet(row))
    .execute();
  await writeLines(db, { ...key, ...wrote }, record);
  await writeMovements(db, { ...key, ...wrote }, movementsOf(content));
  return "saved";
}

type DocumentKey = { connection: string; business_id: string; type: "sale" | "credit_note"; number: string };
type Owner = DocumentKey & { workflow_id: string; run_id: string };

function whereDocument(key: DocumentKey) {
  return sql<boolean>`(connection, business_id, type, number) = (${key.connection}, ${key.business_id}, ${key.type}, ${key.number})`;
}

/** Also one that is not there yet. */
async function lockDocument(db: Queries, key: DocumentKey): Promise<void> {
  const name = JSON.stringify([key.connection, key.business_id, key.type, key.number]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}

async function saysTheSame(db: Queries, key: DocumentKey, eventNumber: string, content: string): Promise<boolean> {
  const event = await db
    .selectFrom("events")
    .select("content")
    .where("connection", "=", key.connection)
    .where("business_id", "=", key.business_id)
    .where("number", "=", eventNumber)
    .executeTakeFirst();
  return event?.content === content;
}

/** What happened since the last record, each of it once however often it is told. */
function historyOf(record: DocumentRecord, writer: Writer): NewEvent[] {
  const subject = subjectOf(record);
  const changes = record.attentionChanges.map((change) => {
    const kind = `attention-${change.change}`;
    const { code, subject: about = "", sinceMs } = change;
    return { kind, subject, content: change, writer, key: keyOf([kind, subject, code, about, sinceMs]) };
  });
  const decisions = record.decisions.map((decision) => {
    const { update, code = "", subject: about = "", atMs } = decision;
    return { kind: DECIDED, subject, content: decision, writer, key: keyOf([update, subject, code, about, atMs]) };
  });
  return [...changes, ...decisions];
}

function keyOf(parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

async function writeLines(db: Queries, owner: Owner, { document }: DocumentRecord): Promise<void> {
  await db.deleteFrom("document_lines").where(whereDocument(owner)).execute();
  const lines = document?.lines ?? [];
  for (let from = 0; from < lines.length; from += ROWS_A_STATEMENT) {
    const rows = lines
      .slice(from, from + ROWS_A_STATEMENT)
      .map((line, index) => ({ ...owner, ...lineColumns(line, from + index) }));
    await db.insertInto("document_lines").values(rows).execute();
  }
}

async function writeMovements(db: Queries, owner: Owner, movements: readonly StockMovement[]): Promise<void> {
  await db.deleteFrom("stock_movements").where(whereDocument(owner)).execute();
  const rows = movements.map((movement): Insertable<StockMovementsTable> => ({
    ...owner,
    ...movementColumns(movement),
  }));
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT)
    await db
      .insertInto("stock_movements")
      .values(rows.slice(from, from + ROWS_A_STATEMENT))
      .execute();
}
