import { sql } from "kysely";

import {
  decimalText,
  type DocumentRecord,
  type DocumentRow,
  givenText,
  isCalendarDate,
  type OperatorDecision,
  type SaleDocument,
  worthOf,
} from "../../contract/index.ts";
import { type Claim, whereRow } from "../claims/claim.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import {
  appended,
  appendEvents,
  type Business,
  businessColumns,
  canonicalJson,
  type NewEvent,
  type Writer,
} from "../events/chain.ts";
import { assignments, insertRowFrom } from "../statements.ts";
import { storableJson, storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";

/** What the event of a row says: all that the row holds, and nothing that changes without the document. */
export interface RowContent extends DocumentRecord {
  /** Which carries the document on, or ended last. */
  run: Writer;
}

/** The kind of the events that say all of a document. */
export const DOCUMENT_SAVED = "document-saved";

/** The kind of the events that keep what an operator decided. */
export const DECIDED = "decided";

/** The subject of a record's events. */
export function subjectOf({ type, number }: { type: string; number: string }): string {
  return `${type} ${storableText(number)}`;
}

/**
 * The columns of `documents` that follow from a record: written with it, and compared with it when the ledger is
 * verified.
 */
export function documentColumns(content: RowContent) {
  const { type, number, stage, failed = false, closed, startedAtMs, content: asked, document } = content;
  const saleDate = document?.saleDate;
  return {
    type,
    number: storableText(number),
    stage,
    failed,
    closed: closed?.status ?? null,
    closed_at: closed ? new Date(closed.atMs) : null,
    started_at: new Date(startedAtMs),
    document_date: typeof saleDate === "string" && isCalendarDate(saleDate) ? saleDate : content.date,
    asked: asked ? canonicalJson(storableJson(asked)) : null,
    asked_total: asked && asked.lines.length > 0 ? worthOf(asked.lines) : null,
    document_id: text(document?.id),
    document_number: text(document?.traderInvoiceNumber),
    status: text(document?.status),
    payment_type_code: text(document?.paymentTypeCode),
    customer_name: text(document?.customer?.name),
    customer_pin: text(document?.customer?.pin),
    total: number_(document?.totals.total),
    taxable_amount: number_(document?.totals.taxableAmount),
    tax_amount: number_(document?.totals.taxAmount),
    original_document_id: text(givenText(document?.originalSaleId) ?? content.originalSaleId),
    refund_reason: text(refundReason(content)),
    corrected_by: text(content.correction?.correctedBy),
    correction_stage: content.correction?.stage ?? null,
    replaces: text(content.replaces),
    cu_invoice_no: text(document?.receipt?.cuInvoiceNo),
    signed_on: signedOn(document?.receipt?.scuDate),
    receipt: document?.receipt ? canonicalJson(storableJson(document.receipt)) : null,
    document: document ? canonicalJson(storableJson(document)) : null,
    attentions: canonicalJson(storableJson(content.attentions)),
    needs_person_since: eldest(content.attentions),
    workflow_id: storableText(content.run.workflowId),
    run_id: storableText(content.run.runId),
  };
}

/** If somebody else's credit note reverses the sale, nobody here knows its reason. */
function refundReason({ type, number, document, refund }: RowContent): string | undefined {
  const isOurs = type === "credit_note" && (document === null || document.traderInvoiceNumber === number);
  return isOurs ? refund?.reason : undefined;
}

function text(value: string | null | undefined): string | null {
  const given = givenText(value);
  return given === null ? null : storableText(given);
}

/** `scuDate` is printed as `DD/MM/YYYY` (Fiscal Compliance API, Receipt). */
function signedOn(scuDate: unknown): string | null {
  const [day, month, year] = typeof scuDate === "string" ? scuDate.split("/") : [];
  const date = `${year}-${month}-${day}`;
  return isCalendarDate(date) && scuDate === `${day}/${month}/${year}` ? date : null;
}

function number_(value: number | undefined): string | null {
  return value === undefined ? null : decimalText(value);
}

function eldest(attentions: RowContent["attentions"]): Date | null {
  return attentions.length === 0 ? null : new Date(Math.min(...attentions.map(({ sinceMs }) => sinceMs)));
}

/** An operator's decision about a document that is in doubt. */
export interface DocumentDecision extends OperatorDecision {
  decision: { saleId: string } | "not-created";
}

/** The columns of a document's row that are its claim. */
const CLAIM_COLUMNS = [
  "intent",
  "claim",
  "claimed_id",
  "claim_decision",
  "credits",
  "idempotency_key",
  "claim_content",
  "request",
  "first_sent_at",
  "execution",
  "under_way_until",
] as const;

export type DocumentClaimRow = Pick<RowOf<"documents">, (typeof CLAIM_COLUMNS)[number]>;

/** A claim begins with nothing. These columns are told by its events; left out are the request, and who may be at it. */
export const NO_CLAIM = { intent: 0, claim: null, claimed_id: null, claim_decision: null, credits: null } as const;

const KIND = "document-";
export const kindOf = (what: string): string => `${KIND}${what}`;

/** What changes a claim; the others tell of what was refused. */
export const CLAIM_CHANGES = [
  "taken",
  "in-doubt",
  "created",
  "created-after-all",
  "found",
  "unsent",
  "not-created",
  "given-up",
  "decided-created",
  "decided-not-created",
].map(kindOf);

/** The row of a document, and its claim in it. */
export function documentClaim(business: Business, of: Pick<DocumentRow, "type" | "number">): Claim {
  const key = { ...businessColumns(business), type: of.type, number: storableText(of.number) };
  return { table: "documents", key, chain: business, subject: subjectOf(of), kind: KIND };
}

export function decisionOf({ claim_decision }: Pick<DocumentClaimRow, "claim_decision">): {
  decision?: DocumentDecision;
} {
  return claim_decision === null ? {} : { decision: claim_decision as DocumentDecision };
}

/** Whether a create request of the document may have left. */
export function isClaimed({ claim }: Pick<DocumentClaimRow, "claim">): boolean {
  return claim === "in-doubt" || claim === "document";
}

/** The bytes are there to be sent again while it is in doubt; they hold the customer and the callback's URL. */
export const NO_LONGER_IN_DOUBT = { first_sent_at: null, request: null } as const;

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
  claim: DocumentClaimRow;
}

/** As the database gives it, with the content of its event. */
export type KeptColumns = Times & DocumentClaimRow & { event_number: string; event: string };

export function keptOf({ event, event_number: eventNumber, ...row }: KeptColumns): Kept {
  const { as_of, sequence, answered_at, ...claim } = row;
  return { as_of, sequence, answered_at, claim, eventNumber, content: JSON.parse(event) as RowContent };
}

/** Each document of the business, with the event that it was written with; null if that is gone. */
export function documentsWithEvents(db: Queries, business: Business) {
  const { connection, business_id } = businessColumns(business);
  return db
    .selectFrom("documents as d")
    .leftJoin("events as e", (join) =>
      join
        .onRef("e.connection", "=", "d.connection")
        .onRef("e.business_id", "=", "d.business_id")
        .onRef("e.number", "=", "d.event_number"),
    )
    .select(["d.type", "d.number", "d.business_id", "d.event_number", "e.content"])
    .where("d.connection", "=", connection)
    .where("d.business_id", "=", business_id);
}

type WithEvent = Pick<RowOf<"documents">, "type" | "number" | "business_id" | "event_number"> & {
  content: string | null;
};

/** @throws LedgerError if the event is gone: what the row stands for is not known then, and nothing may follow from it */
export function contentOf({ content, ...row }: WithEvent): RowContent {
  if (content !== null) return JSON.parse(content) as RowContent;
  throw missingEvent(row);
}

function missingEvent({ type, number, business_id, event_number }: Omit<WithEvent, "content">): LedgerError {
  const event = `The ledger's event ${event_number} of ${business_id}, with which the row of ${type} ${number} was written,`;
  return new LedgerError(`${event} is missing: run \`fiscalflow ledger verify\`.`);
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
  // Not in the statement that waits for the row: it would not see the event of the transaction that it has waited for.
  const { connection, business_id } = businessColumns(business);
  const event = await db
    .selectFrom("events")
    .select("content")
    .where((eb) => eb.and({ connection, business_id }))
    .where("number", "=", event_number)
    .executeTakeFirst();
  if (!event) throw missingEvent({ ...of, business_id, event_number });
  return keptOf({ ...row, event: event.content });
}

/**
 * One statement: makes the row if there is none, with its event. Of two at the same moment it fails for the later one,
 * which is tried again, and finds the row.
 * @returns whether it was made
 */
export async function insertIfNew(
  db: Queries,
  business: Business,
  content: RowContent,
  writer: Writer,
  asOf: Date,
): Promise<boolean> {
  const claim = documentClaim(business, content);
  const event_number = sql`(${appended(business, [savedEvent(content, writer)])})[1]`;
  const times = { as_of: asOf, sequence: 0, answered_at: null };
  const row = { ...claim.key, ...documentColumns(content), ...times, event_number };
  const { rows } = await sql`
    ${insertRowFrom("documents", row)} where not exists (select from documents as d where ${whereRow(claim, "d")})
    returning number`.execute(db);
  return rows.length > 0;
}

/** Makes the row. @returns the one that is there already: until the transaction ends no other one changes it */
export async function insertOrLock(
  db: Queries,
  business: Business,
  content: RowContent,
  writer: Writer,
  asOf: Date,
): Promise<Kept | undefined> {
  return (await insertIfNew(db, business, content, writer, asOf)) ? undefined : await lockKept(db, business, content);
}

/** The row, locked; it is made if the database knew nothing of the document. */
export async function lockOrMake(db: Queries, business: Business, content: RowContent): Promise<Kept> {
  const found = await insertOrLock(db, business, content, content.run, new Date(content.startedAtMs));
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
  const where = whereRow(documentClaim(business, content), "d");
  if (canonicalJson(content) !== canonicalJson(kept.content)) {
    const changes = assignments({ ...documentColumns(content), ...times });
    await sql`
      with event as (select (${appended(business, [savedEvent(content, writer), ...history])})[1] as number)
      update documents as d set ${sql.join(changes)}, event_number = event.number from event where ${where}`.execute(
      db,
    );
    return;
  }
  await appendEvents(db, business, history);
  const changes = assignments(times);
  if (changes.length > 0) await sql`update documents as d set ${sql.join(changes)} where ${where}`.execute(db);
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
