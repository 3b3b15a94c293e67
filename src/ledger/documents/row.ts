import { type RawBuilder, sql } from "kysely";

import type { DocumentRecord, DocumentRow, SaleDocument } from "../../contract/index.ts";
import { whereRow } from "../claims/claim.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appended, appendEvents } from "../events/append-events.ts";
import { canonicalJson } from "../events/canonical-json.ts";
import type { Business, NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import { assignments, insertRowFrom } from "../statements.ts";
import { CLAIM_COLUMNS, type ClaimRow, documentClaim } from "./claim-row.ts";
import { DOCUMENT_SAVED, documentColumns, type RowContent, subjectOf } from "./columns.ts";

/** What a run begins with: what was asked for, and nothing else. */
export type OpenedRecord = Omit<DocumentRecord, "document" | "attentions" | "numberTaken" | "closed">;

/** Who opens a row, and how. */
export interface Opening {
  writer: Writer;
  askedAtMs: number;
  keepsCancelled?: boolean;
  /** The run carries on another one that may have sent the document: without a row nobody knows what became of that. */
  inDoubt?: boolean;
}

/** When what a row says was so. No event has it: it changes without the document. */
export interface Times {
  /** Of the last note: by the workflow's clock, and which note of its run it was. */
  as_of: Date;
  sequence: number;
  /** When the last answer was asked for. */
  answered_at: Date | null;
}

/** What is read of a row: how it stands, and its claim. */
export const KEPT_COLUMNS = sql.join(
  ["as_of", "sequence", "answered_at", "event_number", ...CLAIM_COLUMNS].map((column) => sql.ref(`d.${column}`)),
);

export interface Kept extends Times {
  content: RowContent;
  /** The event that it was written with. */
  eventNumber: string;
  claim: ClaimRow;
}

/** As the database gives it, with the content of its event. */
export type KeptColumns = Times & ClaimRow & { event_number: string; event: string };

export function keptOf({ event, event_number: eventNumber, ...row }: KeptColumns): Kept {
  const { as_of, sequence, answered_at, ...claim } = row;
  return { as_of, sequence, answered_at, claim, eventNumber, content: JSON.parse(event) as RowContent };
}

/** Each document with the event that it was written with. */
export function documentsWithEvents(db: Queries) {
  return db
    .selectFrom("documents as d")
    .innerJoin("events as e", (join) =>
      join
        .onRef("e.connection", "=", "d.connection")
        .onRef("e.business_id", "=", "d.business_id")
        .onRef("e.number", "=", "d.event_number"),
    );
}

/** What a row says that a run begins with. */
export function openedContent(record: OpenedRecord, run: Writer): RowContent {
  return { ...record, numberTaken: false, document: null, attentions: [], run };
}

/** A number that something was sent under is for its sale for ever. */
export function isSpokenFor({ content, claim }: Kept): boolean {
  return content.document !== null || claim.claim !== null;
}

/** The document as its row has it. Until the transaction ends no other one changes it. */
export async function lockKept(db: Queries, business: Business, of: DocumentRow): Promise<Kept | undefined> {
  const claim = documentClaim(business, of);
  const { rows } = await sql<Omit<KeptColumns, "event">>`
    select ${KEPT_COLUMNS} from documents as d where ${whereRow(claim, "d")} for update`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { event_number } = row;
  // Not in the statement that waits for the row: it would not see the event of whoever it has waited for.
  const { connection, business_id } = businessColumns(business);
  const event = await db
    .selectFrom("events")
    .select("content")
    .where((eb) => eb.and({ connection, business_id }))
    .where("number", "=", event_number)
    .executeTakeFirst();
  if (!event) throw new LedgerError(`The event ${event_number}, which a document was written with, is gone.`);
  return keptOf({ ...row, event: event.content });
}

/**
 * The statement that makes the row where there is none, with its event. Of two at the same moment it fails for the later
 * one, and for its event with it.
 */
export function insertionIfNew(
  business: Business,
  content: RowContent,
  writer: Writer,
  times: Pick<Times, "as_of" | "answered_at">,
): RawBuilder<unknown> {
  const claim = documentClaim(business, content);
  const event_number = sql`(${appended(business, [savedEvent(content, writer)])})[1]`;
  const row = { ...claim.key, ...documentColumns(content), ...times, sequence: 0, event_number };
  return sql`
    ${insertRowFrom("documents", row)} where not exists (select from documents as d where ${whereRow(claim, "d")})
    returning number`;
}

/** Makes the row. @returns the one that is there already: until the transaction ends no other one changes it */
export async function insertOrLock(
  db: Queries,
  business: Business,
  content: RowContent,
  writer: Writer,
  times: Pick<Times, "as_of" | "answered_at">,
): Promise<Kept | undefined> {
  const first = {
    ...documentClaim(business, content).key,
    ...documentColumns(content),
    ...times,
    sequence: 0,
    event_number: 0,
  };
  const { rows } = await sql`
    ${insertRowFrom("documents", first)} on conflict (connection, business_id, type, number) do nothing
    returning number`.execute(db);
  if (rows.length === 0) return await lockKept(db, business, content);
  await writeRow(db, business, content, writer);
  return undefined;
}

/** The row, locked; it is made where the database knew nothing of the document. */
export async function lockOrMake(db: Queries, business: Business, content: RowContent, asOf: Date): Promise<Kept> {
  const found = await insertOrLock(db, business, content, content.run, { as_of: asOf, answered_at: null });
  const kept = found ?? (await lockKept(db, business, content));
  if (kept === undefined) throw new Error("a document vanished: rows are never deleted");
  return kept;
}

/** Writes what changed of a row that the transaction has locked, and tells of it; the other events in any case. */
export async function changeRow(
  db: Queries,
  business: Business,
  kept: Kept,
  content: RowContent,
  writer: Writer,
  { times = {}, history = [] }: { times?: Partial<Times>; history?: readonly NewEvent[] } = {},
): Promise<void> {
  if (canonicalJson(content) !== canonicalJson(kept.content)) {
    await writeRow(db, business, content, writer, { times, history });
    return;
  }
  await appendEvents(db, business, history);
  const changes = assignments(times);
  const where = whereRow(documentClaim(business, content), "d");
  if (changes.length > 0) await sql`update documents as d set ${sql.join(changes)} where ${where}`.execute(db);
}

async function writeRow(
  db: Queries,
  business: Business,
  content: RowContent,
  writer: Writer,
  { times = {}, history = [] }: { times?: Partial<Times>; history?: readonly NewEvent[] } = {},
): Promise<void> {
  const saved = savedEvent(content, writer);
  const changes = assignments({ ...documentColumns(content), ...times });
  await sql`
    with event as (select (${appended(business, [saved, ...history])})[1] as number)
    update documents as d set ${sql.join(changes)}, event_number = event.number from event
    where ${whereRow(documentClaim(business, content), "d")}`.execute(db);
}

export function savedEvent(content: RowContent, writer: Writer): NewEvent {
  return { kind: DOCUMENT_SAVED, subject: subjectOf(content), content, writer };
}

export function isSigned({ status, receipt }: SaleDocument): boolean {
  return status === "completed" && Boolean(receipt);
}

/** Whether the row is that of another sale's credit note. */
export function isOfAnother(content: RowContent, { originalSaleId }: DocumentRow): boolean {
  return (content.originalSaleId ?? null) !== (originalSaleId ?? null);
}
