import { sql } from "kysely";

import type { SettledAnswer } from "../../contract/index.ts";
import { changeClaim, checkTry, type Columns, eventOf, update, whereRow, writeWithEvent } from "../claims/claim.ts";
import type { Database, Queries } from "../database.ts";
import { appended, appendEvents, type Writer } from "../events/chain.ts";
import { assignments } from "../statements.ts";
import { anyGivenBack } from "../stock/of-sale.ts";
import { storableText } from "../storable-text.ts";
import {
  type DocumentClaimRow,
  contentOf,
  decisionOf,
  documentClaim,
  documentColumns,
  type DocumentDecision,
  documentsWithEvents,
  isOfAnother,
  isSigned,
  type Kept,
  lockOrMake,
  NO_LONGER_IN_DOUBT,
  savedEvent,
} from "./row.ts";
import { type DocumentKey, isRowOf, lostClaim } from "./take.ts";
import { type Answer, answered, unknownRun, withAnswer } from "./write.ts";

export type DocumentOutcome =
  | { kind: "document"; documentId: string }
  /** Settled: this intent made none. */
  | { kind: "nothing" }
  /**
   * This attempt did not leave, or was refused before it was processed, and no earlier one is in doubt. `execution`: that
   * is known of this one alone; absent: of every one. `takenAtMs`: it is known only if this one was the first to take the
   * claim, which it did then (Unix milliseconds).
   */
  | { kind: "unsent"; execution?: string | undefined; takenAtMs?: number | undefined };

export interface SettleDocumentRequest extends DocumentKey {
  intent: number;
  outcome: DocumentOutcome;
  writer: Writer;
}

/** The same with what the service answered, which is written in the same statement. */
export interface SettleAnswerRequest extends SettleDocumentRequest {
  answer: Answer;
  /** How many movements the sale makes, if the request brings it into being. */
  movementsPlanned?: number | undefined;
  /** The row as it was taken. */
  seen?: Kept | undefined;
}

export interface DecideDocumentRequest extends DocumentKey, DocumentDecision {
  intent: number;
  writer: Writer;
}

export interface DocumentState {
  intent: number;
  documentId?: string;
  /** Only while the intent is in doubt. */
  firstSentAtMs?: number;
  decision?: DocumentDecision;
}

type Settled = "settled" | "contradicted";

/** An intent with an outcome is sent no more. */
const OVER = { ...NO_LONGER_IN_DOUBT, under_way_until: null } as const;

export async function settle(db: Queries, request: SettleDocumentRequest): Promise<Settled> {
  checkTry(request.intent);
  const { outcome } = request;
  return outcome.kind === "document"
    ? await settleDocument(db, request, storableText(outcome.documentId))
    : await settleNone(db, request);
}

/** Both are written, or neither. */
export function settleAnswered(database: Database, request: SettleAnswerRequest): Promise<SettledAnswer> {
  const { of, answer, movementsPlanned, writer } = request;
  return database.inOneStatement(
    (db) => settleSeen(db, request),
    async (db) => {
      await settle(db, request);
      return await answered(db, request, { ...of, movementsPlanned }, answer, writer);
    },
  );
}

/**
 * The claim and the whole answer in one statement, if the row is as it was when it was taken.
 * @returns undefined if it is not so; then nothing is written
 */
async function settleSeen(db: Queries, request: SettleAnswerRequest): Promise<SettledAnswer | undefined> {
  const { of, intent, outcome, answer, seen, movementsPlanned, writer } = request;
  if (seen === undefined || outcome.kind !== "document") return undefined;
  const next = withAnswer(seen, { ...of, movementsPlanned }, answer, writer);
  if (next === undefined) return undefined;
  const claim = documentClaim(request, of);
  const change = { claim: "document", claimed_id: storableText(outcome.documentId) };
  // Who follows the events finds the document in its last one.
  const events = [eventOf(claim, writer, { what: "created", intent, change }), savedEvent(next, writer)];
  const columns = { ...documentColumns(next), answered_at: new Date(answer.askedAtMs), ...change, ...OVER };
  const { rows } = await sql<{ given_back: boolean }>`
    with seen as materialized (
      select from documents as d
      where ${whereRow(claim, "d")} and d.event_number = ${seen.eventNumber} and d.intent = ${intent} and d.claim = 'in-doubt'
      for update),
    event as materialized (select (${appended(request, events)})[2] as number from seen)
    update documents as d
    set ${sql.join(assignments(columns))}, event_number = event.number
    from event where ${whereRow(claim, "d")}
    returning ${of.type === "sale" ? anyGivenBack(request, of.number) : sql`false`} as given_back`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  return {
    ...(row.given_back && isSigned(answer.document) && { givenBack: true }),
    ...(seen.content.run.runId !== writer.runId && { otherRun: true }),
  };
}

async function settleDocument(db: Queries, request: SettleDocumentRequest, documentId: string): Promise<Settled> {
  const { of, intent, writer } = request;
  const kept = await lockOrMake(db, request, unknownRun(of, undefined, writer, Date.now()));
  const { claim: before } = kept;
  if (before.claimed_id === documentId) return "settled";
  const claim = documentClaim(request, of);
  const detail = { documentId };
  if (before.claimed_id !== null || isOfAnother(kept.content, of)) {
    const recorded = before.claimed_id ?? kept.content.document?.id ?? "";
    const told = { what: "contradicted", intent, detail: { ...detail, recorded } };
    await appendEvents(db, request, [eventOf(claim, writer, told)]);
    return "contradicted";
  }
  // Also if it was thought that there is none: a document that exists is never lost sight of.
  const isAwaited = before.claim === "in-doubt" && before.intent === intent;
  const what = before.claim === null ? "found" : isAwaited ? "created" : "created-after-all";
  // Found without a take, as by a run that adopts what stands at the service.
  const change = { claim: "document", claimed_id: documentId, ...(before.claim === null && { intent }) };
  const columns = isAwaited ? OVER : NO_LONGER_IN_DOUBT;
  await changeClaim(db, claim, writer, { what, intent, change, detail }, columns);
  return "settled";
}

/** One statement, with its event. If the row is of another intent, or settled already, it stays as it is. */
async function settleNone(
  db: Queries,
  { of, intent, outcome, writer, ...business }: SettleDocumentRequest,
): Promise<"settled"> {
  const isNothing = outcome.kind === "nothing";
  const from = isNothing ? ["in-doubt", "unsent"] : ["in-doubt"];
  const claim = documentClaim(business, of);
  const { execution, takenAtMs } = outcome.kind === "unsent" ? outcome : {};
  // What one execution has not sent, says nothing of what another one may have.
  const isMeant = execution === undefined ? sql`true` : sql`execution = ${execution}`;
  const isFirst = takenAtMs === undefined ? sql`true` : sql`first_sent_at = ${new Date(takenAtMs)}`;
  const isTaken = sql`(intent = ${intent} and claim = any(${from}::text[]) and ${isMeant} and ${isFirst})`;
  // Its statement may still be on its way to the database: it finds the claim as one that was settled.
  const comesLate =
    takenAtMs === undefined
      ? sql`false`
      : sql`(claim is null and document_id is null and ${isRowOf(of)}
          and not ${lostClaim({ ...business, of, writer, scheduledAtMs: takenAtMs })})`;
  const change = { intent, claim: isNothing ? "nothing" : "unsent", ...makingRoom(of) };
  const written = sql`${update(claim, change, OVER)} and (${isTaken} or ${comesLate}) returning intent`;
  const event = eventOf(claim, writer, { what: isNothing ? "not-created" : "unsent", intent, change });
  await writeWithEvent(db, claim, written, event);
  return "settled";
}

/** A credit note that was not made leaves its sale to another one. */
function makingRoom({ type }: DocumentKey["of"]): Columns {
  return type === "credit_note" ? { credits: null } : {};
}

/**
 * Whether a document of the row exists, or may. If not, its sale is given up, and no execution that was asked for by now
 * sends it, as one of a worker that stood still: it finds its intent settled. One may be an intent ahead of the claim.
 */
export async function closeUnlessSent(
  db: Queries,
  { of, writer, ...business }: DocumentKey & { writer: Writer },
): Promise<boolean> {
  const claim = documentClaim(business, of);
  const isLost = lostClaim({ ...business, of, writer, scheduledAtMs: Date.now() });
  const { rows } = await sql<Pick<DocumentClaimRow, "intent" | "claim"> & { exists: boolean; lost: boolean }>`
    select d.intent, d.claim, d.document_id is not null as exists, ${isLost} as lost from documents as d
    where ${whereRow(claim, "d")} and ${isRowOf(of)}
    for update`.execute(db);
  const [row] = rows;
  if (!row) return false;
  if (row.claim === "in-doubt" || row.claim === "document") return true;
  if (row.claim === null && (row.exists || row.lost)) return true;
  const intent = row.intent + 1;
  const change = { intent, claim: "nothing", ...makingRoom(of) };
  await changeClaim(db, claim, writer, { what: "not-created", intent, change }, OVER);
  return false;
}

export async function decide(db: Queries, request: DecideDocumentRequest): Promise<void> {
  checkTry(request.intent);
  const { of, intent, decision, note, by, atMs, writer } = request;
  const kept = await lockOrMake(db, request, unknownRun(of, undefined, writer, Date.now()));
  const { claim: row } = kept;
  if (saysSo(row, request)) return;
  const decided: DocumentDecision = { decision, note, by, atMs };
  const claim = documentClaim(request, of);
  // What is known is not undone by a decision; nor does a decision on an older intent close a newer one.
  const counts =
    !isOfAnother(kept.content, of) &&
    (row.claimed_id === null
      ? decision !== "not-created" || intent >= row.intent
      : decision !== "not-created" && decision.saleId === row.claimed_id);
  if (!counts) {
    await appendEvents(db, request, [eventOf(claim, writer, { what: "decision-refused", intent, detail: decided })]);
    return;
  }
  const newest = Math.max(intent, row.intent);
  const isNone = decision === "not-created";
  const change = {
    intent: newest,
    ...(isNone
      ? { claim: "nothing", claimed_id: null, ...makingRoom(of) }
      : { claim: "document", claimed_id: storableText(decision.saleId) }),
    claim_decision: decided,
  };
  const event = { what: isNone ? "decided-not-created" : "decided-created", intent, change };
  await changeClaim(db, claim, writer, event, NO_LONGER_IN_DOUBT);
}

/** The same decision again, about the same intent. */
function saysSo(row: DocumentClaimRow, { intent, decision }: DecideDocumentRequest): boolean {
  const earlier = decisionOf(row).decision?.decision;
  if (earlier === undefined) return false;
  if (decision === "not-created") return earlier === "not-created" && row.intent === intent && row.claim === "nothing";
  return earlier !== "not-created" && earlier.saleId === decision.saleId;
}

export async function read(db: Queries, key: DocumentKey): Promise<DocumentState | undefined> {
  const { of } = key;
  const row = await documentsWithEvents(db, key)
    .select(["d.intent", "d.claim", "d.claimed_id", "d.first_sent_at", "d.claim_decision"])
    .where("d.type", "=", of.type)
    .where("d.number", "=", storableText(of.number))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const content = contentOf(row);
  // One that was adopted has its document, and no claim of ours.
  const documentId = row.claimed_id ?? content.document?.id;
  if (isOfAnother(content, of) || (row.claim === null && documentId === undefined)) return undefined;
  return {
    intent: row.intent,
    ...(documentId !== undefined && { documentId }),
    ...(row.first_sent_at === null ? {} : { firstSentAtMs: row.first_sent_at.getTime() }),
    ...decisionOf(row),
  };
}
