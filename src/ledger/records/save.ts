import { sql } from "kysely";

import type { Attention, DocumentRecord, RecordPart, StockMovement } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appended, appendEvents } from "../events/append-events.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import {
  contentOf,
  DECIDED,
  DOCUMENT_SAVED,
  documentColumns,
  type DocumentKey,
  type RecordContent,
  subjectOf,
  whereDocument,
} from "./columns.ts";

/**
 * `older`: a later state of the document is kept already, or more of it than this run has found out. `of-another`: the
 * number is that of another sale's credit note, which exists, and this one does not.
 */
export type SaveAnswer = "saved" | "unchanged" | "older" | "of-another";

/**
 * Keeps a document as its workflow knows it, and tells of it in the business's events. To be repeated freely.
 * @param kept which the transaction has locked
 */
export async function saveOver(
  db: Queries,
  business: Business,
  kept: Kept | undefined,
  record: DocumentRecord,
  writer: Writer,
): Promise<SaveAnswer> {
  // A run that has ended stays so: what comes from it now was under way when it ended.
  const hasEnded = kept !== undefined && kept.closed !== null && kept.run_id === storableText(writer.runId);
  const { closed } = hasEnded ? contentOfKept(kept) : {};
  return await write(db, business, kept, closed ? { ...record, closed } : record, writer);
}

async function write(
  db: Queries,
  business: Business,
  kept: Kept | undefined,
  record: DocumentRecord,
  writer: Writer,
): Promise<SaveAnswer> {
  const key = documentKey(business, record);
  const history = historyOf(record, writer);
  const asOfMs = kept?.as_of.getTime() ?? 0;
  const sent = contentOf(record);
  const columns = documentColumns(sent);
  const ofAnother = kept !== undefined && kept.original_document_id !== columns.original_document_id;
  if (ofAnother && kept.document_id !== null && columns.document_id === null) {
    await appendEvents(db, business, history);
    return "of-another";
  }
  if (kept && !ofAnother && (asOfMs > record.asOfMs || (asOfMs === record.asOfMs && kept.sequence > record.sequence))) {
    await appendEvents(db, business, history);
    return "older";
  }
  const ofRun = kept?.run_id === storableText(writer.runId);
  const earlier = kept && !ofAnother && !ofRun && kept.content !== null ? contentOfKept(kept) : undefined;
  // A number that became free may be asked for with other content.
  const before = earlier?.fingerprint === sent.fingerprint ? earlier : undefined;
  if (kept && before && progressOf(before) > progressOf(sent)) {
    await appendEvents(db, business, history);
    await replaceAttentions(db, business, kept, before, sent.attentions);
    return "older";
  }
  const content = before ? { ...sent, movements: withApplied(before, sent.movements) } : sent;
  const current = { as_of: new Date(record.asOfMs), sequence: record.sequence };
  if (kept?.content === canonicalJson(content)) {
    await appendEvents(db, business, history);
    await db.updateTable("documents").set(current).where(whereDocument(key)).execute();
    return "unchanged";
  }
  const saved: NewEvent = { kind: DOCUMENT_SAVED, subject: subjectOf(record), content, writer };
  const wrote = { workflow_id: storableText(writer.workflowId), run_id: storableText(writer.runId) };
  const row = { ...columns, ...current, ...wrote, event_number: sql<number>`(select number from event)` };
  const document = db
    .insertInto("documents")
    .values({ ...key, ...row })
    .onConflict((conflict) => conflict.columns(["connection", "business_id", "type", "number"]).doUpdateSet(row));
  // One statement, which is one round trip: all documents of the business share the chain, which is held until the end.
  await sql`
    with event as (select (${appended(business, [saved, ...history])})[1] as number)
    ${document}`.execute(db);
  return "saved";
}

/** Changes what a row says, and nothing of who wrote it and when: its run has sent that. */
export async function rewrite(db: Queries, business: Business, kept: Kept, content: RecordContent): Promise<void> {
  const record = { ...content, asOfMs: kept.as_of.getTime(), sequence: kept.sequence };
  const writer = { workflowId: kept.workflow_id, runId: kept.run_id };
  await write(db, business, kept, { ...record, attentionChanges: [], decisions: [] }, writer);
}

/** What a run needs an operator for that carries the document on, and knows less of it than the row does. */
export async function replaceAttentions(
  db: Queries,
  business: Business,
  kept: Kept,
  { closed: _carriedOn, ...known }: RecordContent,
  attentions: Attention[],
): Promise<void> {
  await rewrite(db, business, kept, { ...known, attentions });
}

export function documentKey(
  business: Business,
  { type, number }: Pick<DocumentRecord, "type" | "number">,
): DocumentKey {
  return { ...businessColumns(business), type, number: storableText(number) };
}

export type Kept = NonNullable<Awaited<ReturnType<typeof readKept>>>;

/**
 * The document as it was kept last. Until the transaction ends no other one writes it, also where it is not there yet.
 */
export async function lockKept(db: Queries, key: DocumentKey): Promise<Kept | undefined> {
  const name = JSON.stringify([key.connection, key.business_id, key.type, key.number]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
  return await readKept(db, key);
}

/** With what its event says of it. */
function readKept(db: Queries, { connection, business_id, type, number }: DocumentKey) {
  return db
    .selectFrom("documents as d")
    .leftJoin("events as e", (join) =>
      join
        .onRef("e.connection", "=", "d.connection")
        .onRef("e.business_id", "=", "d.business_id")
        .onRef("e.number", "=", "d.event_number"),
    )
    .select(["d.as_of", "d.sequence", "d.workflow_id", "d.run_id"])
    .select(["d.event_number", "d.document_id", "d.original_document_id", "d.closed", "e.content"])
    .where("d.connection", "=", connection)
    .where("d.business_id", "=", business_id)
    .where("d.type", "=", type)
    .where("d.number", "=", number)
    .executeTakeFirst();
}

/** What the event says that the row was written with. */
export function contentOfKept({ content, event_number }: Kept): RecordContent {
  if (content === null) throw new LedgerError(`The event ${event_number}, which a document was written with, is gone.`);
  return JSON.parse(content) as RecordContent;
}

/**
 * What never goes back. A run that was restarted or reset has to find out what the runs before it did, and may have to
 * wait for the service to do so. A document that is rejected or on its way may become the one as well as the other.
 */
function progressOf({ document }: Pick<RecordContent, "document">): number {
  if (!document) return 0;
  if (document.status === "completed" && !document.receipt) return 2;
  return document.status === "completed" || document.status === "cancelled" ? 3 : 1;
}

export const HAS_SIGNED: readonly string[] = ["completed", "crediting", "credited"];
const MAY_HAVE_NONE: readonly string[] = ["resolving-items", "registering", "submitting", "cancelled"];

/**
 * Whether a part belongs to a record that was found to be `older`, so that no earlier part of it was written. Such a
 * part names no document: its stage says how far its run is.
 */
export function isOfOlder(before: RecordContent, { fingerprint, document, stage }: RecordPart): boolean {
  if (before.fingerprint !== fingerprint) return false;
  if (document !== "unchanged") return progressOf(before) > progressOf({ document });
  if (HAS_SIGNED.includes(stage)) return false;
  return progressOf(before) > (MAY_HAVE_NONE.includes(stage) ? 0 : 1);
}

/**
 * What was applied stays so, also where a run that was restarted or reset has not found it out yet. But for the return
 * of goods: whether a run has found that out is asked of what the run itself tells.
 */
function withApplied(before: RecordContent, movements: StockMovement[]): StockMovement[] {
  const states = new Map(movements.map((movement) => [storableText(movement.referenceId), movement.state]));
  const applied = before.movements.filter(({ referenceId, purpose, state }) => {
    const now = states.get(storableText(referenceId));
    const isOver = state === "applied" && purpose !== "undone";
    return isOver && (now === undefined || now === "planned" || now === "sending");
  });
  if (applied.length === 0) return movements;
  const stays = new Set(applied.map(({ referenceId }) => storableText(referenceId)));
  return [...applied, ...movements.filter(({ referenceId }) => !stays.has(storableText(referenceId)))];
}

/** What happened since the last record, each of it once however often it is sent. */
export function historyOf(record: DocumentRecord, writer: Writer): NewEvent[] {
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
