import { sql } from "kysely";

import {
  type AnsweredRow,
  type ClosedRun,
  type DocumentRow,
  isCalendarDate,
  isSameRefund,
  nairobiDate,
  type RunNote,
  type SaleDocument,
  type SettledAnswer,
  type Stage,
} from "../../contract/index.ts";
import { changeClaim } from "../claims/claim.ts";
import type { Queries } from "../database.ts";
import { keptErased } from "../erasure/redact.ts";
import { appendEvents, type Business, type NewEvent, type Writer } from "../events/chain.ts";
import { anyGivenBack } from "../stock/of-sale.ts";
import { correctionEvents } from "./reserve.ts";
import {
  changeRow,
  DECIDED,
  documentClaim,
  insertIfNew,
  insertOrLock,
  isClaimed,
  isOfAnother,
  isSigned,
  isSpokenFor,
  type Kept,
  lockKept,
  lockOrMake,
  openedContent,
  type OpenedRecord,
  type Opening,
  type RowContent,
  subjectOf,
} from "./row.ts";

/** What a row said before a run opened it. */
export type OpenedBefore = Pick<RowContent, "stage" | "document" | "refund" | "cancelRequested">;

/**
 * The first thing that a run does with a sale or a credit note that is not finished:
 *
 * - there is no row: it is made
 * - nothing was sent under the number: the row says what is asked for now
 * - something was, or may have been: the row stays as it is, but for its run, which is now this one; what this run knows
 *   better it notes later
 * - another sale's credit note has the number: nothing is changed
 *
 * To be repeated freely.
 * @param askedAtMs when the run asked for it, by Temporal's clock: an attempt of an older run changes nothing
 * @param keepsCancelled a row that was given up stays as it is
 * @param inDoubt a row that is new says that something may have been sent
 * @returns what the row of this document said; undefined if it is new
 */
export async function open(
  db: Queries,
  business: Business,
  record: OpenedRecord,
  { writer, askedAtMs, keepsCancelled = false, inDoubt = false }: Opening,
): Promise<OpenedBefore | undefined> {
  const opened = openedContent(record, writer);
  const asOf = new Date(askedAtMs);
  const kept = await insertOrLock(db, business, opened, writer, asOf);
  if (!kept && inDoubt) await doubt(db, business, record, writer, asOf);
  const before = kept && !isOfAnother(kept.content, record) ? kept.content : undefined;
  if (!kept || kept.as_of > asOf) return before;
  // A repeated attempt; but of what this run has given up, it asks anew.
  if (kept.content.run.runId === writer.runId && before?.stage !== "cancelled") return before;
  if (keepsCancelled && before?.stage === "cancelled") return before;
  const { closed: _over, failed: _failed, ...known } = kept.content;
  const isOther = isOfAnother(known, record);
  if (isOther && isSpokenFor(kept)) return before;
  const isTaken = known.document !== null || known.numberTaken || isClaimed(kept.claim);
  const { replaces } = known;
  const isReleased = known.stage === "cancelled" && known.run.workflowId !== writer.workflowId;
  const isReserved = replaces !== undefined && !isReleased && known.fingerprint === record.fingerprint;
  const anew = isReserved ? { ...opened, replaces } : opened;
  // A document that was given up, and is asked for again, is not to be given up once more.
  const cancelRequested = known.stage === "cancelled" ? undefined : known.cancelRequested;
  const next = isTaken && !isOther ? { ...known, cancelRequested, run: writer } : anew;
  await changeRow(db, business, kept, next, writer, { times: { as_of: asOf, sequence: 0 } });
  return before;
}

/**
 * The row of a number that nobody has, in one statement.
 * @returns false if there is a row
 */
export async function openNew(
  db: Queries,
  business: Business,
  record: OpenedRecord,
  { writer, askedAtMs }: Opening,
): Promise<boolean> {
  return await insertIfNew(db, business, openedContent(record, writer), writer, new Date(askedAtMs));
}

/** The row is new, and something may have been sent all the same: nothing is until an operator has said what became of it. */
export async function doubt(
  db: Queries,
  business: Business,
  of: DocumentRow,
  writer: Writer,
  asOf: Date,
): Promise<void> {
  const event = { what: "in-doubt", intent: 1, change: { intent: 1, claim: "in-doubt" } };
  const columns = { first_sent_at: asOf, request: "null" };
  await changeClaim(db, documentClaim(business, of), writer, event, columns);
}

/** What the service answered about a document. */
export interface Answer {
  document: SaleDocument;
  /** When it was asked for (Unix milliseconds): a late attempt must not put an earlier state over a later one. */
  askedAtMs: number;
}

/** Writes the service's answer about a document into its row. To be repeated freely. */
export async function answered(
  db: Queries,
  business: Business,
  of: AnsweredRow,
  answer: Answer,
  writer: Writer,
): Promise<SettledAnswer> {
  const { movementsPlanned: _planned, ...row } = of;
  const { document, askedAtMs } = answer;
  const times = { answered_at: new Date(askedAtMs) };
  // A database that knew nothing of the run gets its row.
  const kept = await lockOrMake(db, business, unknownRun(row, document, writer, askedAtMs));
  // Asked first: a transaction that writes holds the chain of the business.
  const isGivenBack = of.type === "sale" && isSigned(document) && (await isAnyGivenBack(db, business, of.number));
  const next = withAnswer(kept, of, answer, writer);
  if (next) await changeRow(db, business, kept, next, writer, { times });
  return {
    ...(isGivenBack && { givenBack: true }),
    ...(kept.content.run.runId !== writer.runId && { otherRun: true }),
  };
}

async function isAnyGivenBack(db: Queries, business: Business, number: string): Promise<boolean> {
  const { rows } = await sql<{ any: boolean }>`select ${anyGivenBack(business, number)} as any`.execute(db);
  return rows[0]?.any === true;
}

/**
 * What the row says once the answer is in it; undefined if it stays as it is: the row has a later answer, or it is
 * that of another sale's credit note.
 */
export function withAnswer(
  kept: Kept,
  { movementsPlanned, ...row }: AnsweredRow,
  { document, askedAtMs }: Answer,
  writer: Writer,
): RowContent | undefined {
  const isOther = isOfAnother(kept.content, row);
  // The number belongs to the sale that has its document: another sale's credit note that was not issued makes room.
  if ((isOther && isSpokenFor(kept)) || isNewer(kept, { document, askedAtMs })) return undefined;
  const { failed: _failed, ...content } = isOther ? unknownRun(row, document, writer, askedAtMs) : kept.content;
  const stage = stageAfter(content, document);
  const planned = movementsPlanned !== undefined && { movementsPlanned };
  return { ...content, stage, numberTaken: true, document: keptErased(content.document, document), ...planned };
}

/** What is known of a run by its answer alone, or by its claim. */
export function unknownRun(
  of: DocumentRow,
  { saleDate }: Partial<SaleDocument> = {},
  writer: Writer,
  askedAtMs: number,
): RowContent {
  const date = typeof saleDate === "string" && isCalendarDate(saleDate) ? saleDate : nairobiDate(askedAtMs);
  const stage = of.type === "sale" ? ("awaiting-authority" as const) : ("submitting" as const);
  return {
    ...of,
    stage,
    startedAtMs: askedAtMs,
    numberTaken: false,
    date,
    document: null,
    attentions: [],
    run: writer,
  };
}

function isNewer(kept: Kept, { document, askedAtMs }: Answer): boolean {
  const known = kept.content.document;
  // A receipt is news whatever the clocks of the hosts say, and is never taken back.
  if (known?.id === document.id && isSigned(known) !== isSigned(document)) return isSigned(known);
  return kept.answered_at !== null && kept.answered_at.getTime() > askedAtMs;
}

/** What the answer says of the stage; what only the run knows of it stays. */
function stageAfter({ type, stage, document: known }: RowContent, document: SaleDocument): Stage {
  if (isSigned(document)) {
    if (type === "credit_note") return "credited";
    return stage === "crediting" || stage === "credited" ? stage : "completed";
  }
  if (document.status === "cancelled") return stage;
  if (known?.status === document.status && known.id === document.id) return stage;
  return document.status === "failed" ? "rejected" : "awaiting-authority";
}

/** Writes what only the run knows of its document. To be repeated freely. */
export async function note(db: Queries, business: Business, told: RunNote, writer: Writer): Promise<void> {
  const { asOfMs, sequence, stage, failed, numberTaken, attentions, ...more } = told;
  const { refund, cancelRequested, creditNoteCancelRequested, correction, ...rest } = more;
  const { attentionChanges: _changes, decisions: _decisions, ...left } = rest;
  // A field of the note that nobody takes out above does not compile: it would be stored nowhere.
  const of: { [Field in keyof typeof left]: Field extends keyof DocumentRow ? (typeof left)[Field] : never } = left;
  const history = historyOf(told, writer);
  const times = { as_of: new Date(asOfMs), sequence };
  const kept = await lockKept(db, business, of);
  const isBehind =
    kept && (kept.as_of.getTime() > asOfMs || (kept.as_of.getTime() === asOfMs && kept.sequence > sequence));
  if (!kept || isBehind || isOfAnother(kept.content, of)) {
    await appendEvents(db, business, history);
    return;
  }
  const { closed, ...content } = kept.content;
  // A run that has ended stays so: what comes from it now was under way when it ended.
  const hasEnded = closed !== undefined && content.run.runId === writer.runId;
  const keepsWish = !refund || isSameRefund(content.refund, refund);
  const next: RowContent = {
    ...content,
    ...(hasEnded && { closed }),
    stage: stageTold(content, stage),
    ...(failed && { failed }),
    numberTaken: content.numberTaken || numberTaken,
    refund: refund === null ? undefined : (refund ?? content.refund),
    // A run that was reset may not know of what a later one was asked for.
    cancelRequested: cancelRequested ?? content.cancelRequested,
    // The wish belongs to its refund, and not to the next one.
    creditNoteCancelRequested:
      refund === null
        ? undefined
        : (creditNoteCancelRequested ?? (keepsWish ? content.creditNoteCancelRequested : undefined)),
    correction: correction ?? content.correction,
    attentions,
    run: writer,
  };
  const corrections = correctionEvents(kept.content, told, writer);
  await changeRow(db, business, kept, next, writer, { times, history: [...history, ...corrections] });
}

const AFTER_THE_RECEIPT: readonly string[] = ["completed", "crediting", "credited", "cancelled"];

/** A run that carries on a signed sale has to find that out first. */
function stageTold({ document, stage: known }: RowContent, stage: Stage): Stage {
  return document && isSigned(document) && !AFTER_THE_RECEIPT.includes(stage) ? known : stage;
}

/**
 * Keeps that the workflow of a document ended without an outcome; without `closed`, that a run carries it on. A row
 * that another run than the writer carries on by now stays as it is. To be repeated freely.
 */
export async function markClosed(
  db: Queries,
  business: Business,
  of: DocumentRow,
  writer: Writer,
  closed: ClosedRun | undefined,
): Promise<void> {
  const kept = await lockKept(db, business, of);
  if (!kept || kept.content.run.runId !== writer.runId) return;
  const { closed: _before, ...content } = kept.content;
  await changeRow(db, business, kept, { ...content, ...(closed && { closed }) }, writer);
}

/** What happened since the last note, each of it once however often it is sent. */
function historyOf(told: RunNote, writer: Writer): NewEvent[] {
  const subject = subjectOf(told);
  const changes = told.attentionChanges.map((change) => {
    const kind = `attention-${change.change}`;
    const { code, subject: about = "", sinceMs } = change;
    return { kind, subject, content: change, writer, key: keyOf([kind, subject, code, about, sinceMs]) };
  });
  const decisions = told.decisions.map((decision) => {
    const { update, code = "", subject: about = "", atMs } = decision;
    return { kind: DECIDED, subject, content: decision, writer, key: keyOf([update, subject, code, about, atMs]) };
  });
  return [...changes, ...decisions];
}

function keyOf(parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
