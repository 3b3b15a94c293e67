import { type RawBuilder, sql } from "kysely";

import { type DocumentRow, isRefusedStatus, type TakingExecution } from "../../contract/index.ts";
import {
  changeClaim,
  checkTry,
  columnsOf,
  eventOf,
  holderText,
  type UnderWay,
  underWay,
  untilItIsOver,
  update,
  whereRow,
} from "../claims/claim.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { appended, type Business, businessColumns, type Writer } from "../events/chain.ts";
import { mayBeLost } from "../place.ts";
import { assignments } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";
import {
  changeRow,
  CLAIM_CHANGES,
  decisionOf,
  documentClaim,
  type DocumentDecision,
  insertOrLock,
  isOfAnother,
  isSpokenFor,
  type Kept,
  KEPT_COLUMNS,
  type KeptColumns,
  keptOf,
  kindOf,
  subjectOf,
} from "./row.ts";
import { doubt, unknownRun } from "./write.ts";

/** A document's row, in which its claim is. */
export interface DocumentKey extends Business {
  of: DocumentRow;
}

export interface TakeDocumentRequest extends DocumentKey, TakingExecution {
  /** One intent for a document, with one idempotency key; a later intent has a higher number, from 1. */
  intent: number;
  /** Undefined: it is sent without one. */
  idempotencyKey: string | undefined;
  /** For so long after it was first sent it may be sent again under its key (milliseconds); 0: never. */
  repeatableForMs: number;
  /** A fingerprint of what the document says. */
  content: string;
  /** What would be sent, as JSON. */
  request: unknown;
  nowMs: number;
  writer: Writer;
  /** Whoever asks has not looked since its first attempt whether the document is still wanted. */
  unlessCancelled?: boolean;
}

/** Whose the number of a credit note is: the sale that it reverses, and who carries it on. */
export interface NumberOwner {
  saleId: string;
  /** The sale's own number, if the ledger has that sale. */
  sale?: string | undefined;
  /** Workflow id and run id, for people. */
  holder: string;
}

export type TakeDocumentAnswer =
  /** Send `request`, which is the first one of this intent and may be another than was given. */
  | {
      kind: "send";
      request: unknown;
      /** Since when something of this intent may be out without an answer that settled it; now for the first. */
      firstSentAtMs: number;
      first: boolean;
      /** The row as it was taken: who settles it gives this back. */
      seen?: Kept | undefined;
    }
  | { kind: "known"; documentId: string; decision?: DocumentDecision }
  /** That intent is settled and made none: go on with `intent + 1`. */
  | { kind: "behind"; intent: number; decision?: DocumentDecision }
  /** Nothing was taken: the number is that of another sale's credit note. */
  | ({ kind: "number-taken" } & NumberOwner)
  /** Nothing was taken: the sale has another credit note, which may be signed. */
  | { kind: "credited-by-another"; number: string }
  | UnderWay
  /** Nothing was taken, and nothing is out: a cancellation was asked for. */
  | { kind: "cancel-requested" }
  /** It may have been sent, and is not to be sent again. */
  | { kind: "doubtful"; firstSentAtMs: number }
  /** Nobody knows what an earlier run has sent. */
  | { kind: "not-known" }
  /** An earlier try that is in doubt had other content, or another intent; or one of the two is sent without a key. */
  | { kind: "different"; firstSentAtMs: number };

/**
 * The states of an intent, and who moves it on:
 *
 * - none, unsent → in-doubt (take; without a row of its sale, and where a restore may have lost it, as one that is not
 *   known)
 * - none → document (settle: the service has it already), nothing, document (decide)
 * - in-doubt → unsent, nothing, document (settle, decide)
 * - nothing, unsent → in-doubt under a higher intent (take)
 * - nothing, unsent → document, when it shows up late (settle, decide); document is the end
 */
export async function take(db: Queries, request: TakeDocumentRequest): Promise<TakeDocumentAnswer> {
  const { claim, columns, event, answer } = firstOf(request);
  const { of, writer, nowMs } = request;
  const unknown = unknownRun(of, undefined, writer, nowMs);
  const asOf = new Date(nowMs);
  const found = await insertOrLock(db, request, unknown, writer, asOf);
  if (found === undefined) {
    // Its run has opened it: what else the database has lost, nobody knows.
    await doubt(db, request, of, writer, asOf);
    return { kind: "not-known" };
  }
  const isOther = isOfAnother(found.content, of);
  if (isOther && isSpokenFor(found)) return { kind: "number-taken", ...(await ownerOf(db, request, found)) };
  const known = isOther ? undefined : await standing(db, request, found);
  if (known !== undefined) return known;
  if (request.unlessCancelled && !isOther && found.content.cancelRequested !== undefined)
    return { kind: "cancel-requested" };
  // Before anything is written: a transaction that has a row of the sale waits for the chain.
  const other = await otherCreditNote(db, request);
  if (other !== undefined) return other;
  if (isOther) {
    // The number belongs to the sale that sends first.
    await changeRow(db, request, found, unknown, writer, { times: { as_of: asOf, sequence: 0 } });
  }
  const mayHaveLeftAtMs = await mayHaveLeft(db, request, found);
  if (mayHaveLeftAtMs !== undefined) return await takeInDoubt(db, request, mayHaveLeftAtMs);
  await changeClaim(db, claim, writer, event, columns);
  return answer;
}

/** Whether a restore may have lost the claim of a document that was asked for since then. */
export function lostClaim(asked: DocumentKey & Pick<TakeDocumentRequest, "writer" | "scheduledAtMs">) {
  const { of, writer, scheduledAtMs: sinceMs, connection, businessId } = asked;
  const subject = subjectOf(of);
  return mayBeLost({ connection, businessId, writer, sinceMs, subject, kinds: OF_CLAIM, document: subject });
}

const OF_CLAIM = CLAIM_CHANGES.filter((kind) => kind !== kindOf("in-doubt"));

/** Since when it may have been sent, if a restore may have lost that; an earlier run began when the row did. */
async function mayHaveLeft(db: Queries, request: TakeDocumentRequest, row: Kept): Promise<number | undefined> {
  const since = new Date(request.scheduledAtMs);
  const { rows } = await sql<{ lost: boolean; own: boolean }>`
    select ${lostClaim(request)} as lost, exists (select from ledger_place where lost_until > ${since}) as own`.execute(
    db,
  );
  if (rows[0]?.lost !== true) return undefined;
  return rows[0].own ? request.scheduledAtMs : row.content.startedAtMs;
}

/**
 * A restore may have lost that it was sent. Under its key it is sent again, while the service remembers that; else nobody
 * knows.
 */
async function takeInDoubt(
  db: Queries,
  request: TakeDocumentRequest,
  firstSentAtMs: number,
): Promise<TakeDocumentAnswer> {
  const { claim, columns, event, answer } = firstOf(request);
  const { repeatableForMs, nowMs, writer } = request;
  const isOver = repeatableForMs === 0 || nowMs > firstSentAtMs + repeatableForMs;
  const idle = isOver && { execution: null, under_way_until: null };
  const lost = { ...event, detail: { nowMs, by: "lost" } };
  await changeClaim(db, claim, writer, lost, { ...columns, first_sent_at: new Date(firstSentAtMs), ...idle });
  return isOver ? { kind: "doubtful", firstSentAtMs } : { ...answer, firstSentAtMs, first: false };
}

/**
 * The first request of all for a row that its run has opened, in one statement.
 * @returns undefined if it is not so; then nothing is written
 */
export async function takeFirst(db: Queries, request: TakeDocumentRequest): Promise<TakeDocumentAnswer | undefined> {
  const { claim, columns, event, answer } = firstOf(request);
  const { of, writer } = request;
  const { connection, business_id } = businessColumns(request);
  const { credits } = event.change;
  const isOnly =
    credits === undefined
      ? sql`true`
      : sql`not exists (
          select from documents as o
          where (o.connection, o.business_id) = (${connection}, ${business_id}) and ${mayCredit(credits, of.number)})`;
  const { rows } = await sql<KeptColumns>`
    with written as (
      update documents as d set ${sql.join(assignments({ ...columnsOf(event.change), ...columns }))}
      where ${whereRow(claim, "d")} and d.claim is null and d.document_id is null
        and ${isRowOf(of)} and ${isOnly}
        and not ${lostClaim(request)}
      returning ${KEPT_COLUMNS})
    select written.*, e.content as event, ${appended(request, [eventOf(claim, writer, event)])} as appended
    from written left join events as e
      on (e.connection, e.business_id, e.number) = (${connection}, ${business_id}, written.event_number)`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  // Somebody else may have written the row while the statement waited for it: its event cannot be seen yet.
  return { ...answer, seen: row.event === null ? undefined : keptOf(row) };
}

/** What is written, and answered, if nothing stands in the way. */
function firstOf(request: TakeDocumentRequest) {
  checkTry(request.intent);
  const { of, intent, idempotencyKey, content, nowMs } = request;
  const text: string | undefined = JSON.stringify(request.request);
  if (text === undefined) throw new LedgerError(`The request of ${of.type} ${of.number} is no JSON.`);
  const credits = creditedBy(of);
  const change = { intent, claim: "in-doubt", claim_decision: null, ...(credits !== undefined && { credits }) };
  const columns = {
    idempotency_key: idempotencyKey ?? null,
    claim_content: content,
    request: text,
    first_sent_at: new Date(nowMs),
    execution: request.execution,
    under_way_until: untilItIsOver(request.underWayForMs),
  };
  const event = { what: "taken", intent, change, detail: { nowMs } };
  const answer = { kind: "send", request: JSON.parse(text) as unknown, firstSentAtMs: nowMs, first: true } as const;
  return { claim: documentClaim(request, of), columns, event, answer };
}

/** The sale that a credit note reverses, as the row has it. */
function creditedBy({ type, originalSaleId }: DocumentKey["of"]): string | undefined {
  return type === "credit_note" && originalSaleId !== undefined ? storableText(originalSaleId) : undefined;
}

/** For a statement on `documents`: the row is that of the sale, or of a credit note of the same sale. */
export function isRowOf(of: DocumentKey["of"]): RawBuilder<boolean> {
  return sql`original_document_id is not distinct from ${creditedBy(of) ?? null}`;
}

/** Undefined: nothing of this intent is out, and nothing of an earlier one. */
async function standing(
  db: Queries,
  request: TakeDocumentRequest,
  { content: { document }, claim: row }: Kept,
): Promise<TakeDocumentAnswer | undefined> {
  const { of, intent, content } = request;
  const decision = decisionOf(row);
  // A database that has lost the claim, and has got an answer since.
  if (row.claim === null) return document === null ? undefined : { kind: "known", documentId: document.id };
  if (row.claimed_id !== null) return { kind: "known", documentId: row.claimed_id, ...decision };
  if (intent < row.intent) return { kind: "behind", intent: row.intent - 1, ...decision };
  if (row.claim !== "in-doubt") {
    return intent === row.intent && row.claim === "nothing" ? { kind: "behind", intent, ...decision } : undefined;
  }
  if (row.claim_content === null) return { kind: "not-known" };
  const firstSentAtMs = row.first_sent_at?.getTime() ?? request.nowMs;
  const { idempotencyKey = null } = request;
  const isKeyed = idempotencyKey !== null;
  // The service does not know a key that the first one was sent without.
  if (intent > row.intent || row.claim_content !== content || isKeyed !== (row.idempotency_key !== null))
    return (await underWay(db, row)) ?? { kind: "different", firstSentAtMs };
  if (row.idempotency_key !== idempotencyKey)
    throw new LedgerError(
      `Intent ${intent} of ${of.type} ${of.number} is in doubt under the key ${row.idempotency_key}, and is wanted again under ` +
        `${idempotencyKey}: that could make a second document.`,
    );
  const { repeatableForMs, nowMs } = request;
  // The very call that is kept: its answer was lost, so nothing was sent on the strength of it.
  const isOwn = row.execution === request.execution;
  if (!isOwn) {
    const other = await underWay(db, row);
    if (repeatableForMs === 0 || nowMs > firstSentAtMs + repeatableForMs)
      return other ?? { kind: "doubtful", firstSentAtMs };
    // While two are under way neither says by its end that nothing is.
    const execution = other ? null : request.execution;
    const until = sql<Date>`greatest(under_way_until, ${untilItIsOver(request.underWayForMs)})`;
    await update(documentClaim(request, of), {}, { execution, under_way_until: until }).execute(db);
  }
  // What it took over from an earlier one, that one may have sent.
  const first = isOwn && firstSentAtMs === nowMs;
  return { kind: "send", request: JSON.parse(row.request ?? "null") as unknown, firstSentAtMs, first };
}

/** An answer that came while the ledger was away is written as soon as it is back. */
const UNTIL_WRITTEN_MS = 5_000;

/** For people. */
async function ownerOf(db: Queries, request: DocumentKey, { content }: Kept): Promise<NumberOwner> {
  const saleId = content.originalSaleId ?? "";
  const sale = await db
    .selectFrom("documents")
    .select("number")
    .where((eb) => eb.and({ ...businessColumns(request), type: "sale", document_id: storableText(saleId) }))
    .executeTakeFirst();
  return { saleId, sale: sale?.number, holder: holderText(content.run) };
}

/** Of the row `o`: it is another credit note of the sale, and may be signed, or on its way. */
function mayCredit(credits: string, number: string): RawBuilder<boolean> {
  return sql`o.type = 'credit_note' and o.number <> ${storableText(number)}
    and (o.credits = ${credits} or (o.original_document_id = ${credits} and o.claim in ('in-doubt', 'document')
      and coalesce(o.status, '') not in ('failed', 'cancelled')))`;
}

/**
 * Another credit note of the sale that may be signed, or may be on its way. One that the authority has refused makes
 * room.
 */
async function otherCreditNote(db: Queries, request: TakeDocumentRequest): Promise<TakeDocumentAnswer | undefined> {
  const credits = creditedBy(request.of);
  if (credits === undefined) return undefined;
  const { connection, business_id } = businessColumns(request);
  const { rows } = await sql<Pick<RowOf<"documents">, "number" | "claim" | "status" | "intent" | "credits">>`
    select o.number, o.claim, o.status, o.intent, o.credits from documents as o
    where (o.connection, o.business_id) = (${connection}, ${business_id}) and ${mayCredit(credits, request.of.number)}
    for update`.execute(db);
  const isRefused = ({ claim, status }: (typeof rows)[number]): boolean =>
    claim !== "in-doubt" && isRefusedStatus(status);
  const live = rows.find((row) => !isRefused(row));
  // What became of it is known, and is still to be written.
  if (live?.claim === "document" && live.status === null) return { kind: "in-progress", forMs: UNTIL_WRITTEN_MS };
  if (live) return { kind: "credited-by-another", number: live.number };
  const [other] = rows;
  if (!other) return undefined;
  const event = { what: "given-up", intent: other.intent, change: { credits: null } };
  const released = documentClaim(request, { type: "credit_note", number: other.number });
  await changeClaim(db, released, request.writer, event);
  return undefined;
}
