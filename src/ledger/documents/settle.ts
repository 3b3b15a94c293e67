import { sql } from "kysely";

import type { SettledAnswer } from "../../contract/index.ts";
import type { Database, Queries } from "../database.ts";
import { appended, appendEvents } from "../events/append-events.ts";
import { documentColumns, whereDocument } from "./columns.ts";
import { documentKey, isOfAnother, isSigned, type Kept, lockOrMake, savedEvent } from "./row.ts";
import { answered, unknownRun, withAnswer } from "./write.ts";
import { anyGivenBack } from "../stock/taken.ts";
import { assignments } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import {
  changeClaim,
  checkIntent,
  type ClaimChange,
  claimAssignments,
  claimEvent,
  NO_LONGER_IN_DOUBT,
} from "./claim-row.ts";
import type { SettleAnswerRequest, SettleDocumentRequest } from "./claims.ts";

type Settled = "settled" | "contradicted";

/** Whoever has the outcome of an intent sends it no more. */
const OVER = { ...NO_LONGER_IN_DOUBT, under_way_until: null } as const;

export function settle(database: Database, request: SettleDocumentRequest): Promise<Settled> {
  checkIntent(request.intent);
  const { outcome } = request;
  if (outcome.kind !== "document") return database.query((db) => settleNone(db, request));
  const documentId = storableText(outcome.documentId);
  return database.inOneStatement(
    (db) => settleAwaited(db, request, documentId),
    (db) => settleDocument(db, request, documentId),
  );
}

/** Both are written, or neither. */
export function settleAnswered(database: Database, request: SettleAnswerRequest): Promise<SettledAnswer> {
  checkIntent(request.intent);
  const { outcome, of, answer, movementsPlanned, writer } = request;
  return database.inOneStatement(
    (db) => settleSeen(db, request),
    async (db) => {
      if (outcome.kind === "document") await settleDocument(db, request, storableText(outcome.documentId));
      else await settleNone(db, request);
      return await answered(db, request, { ...of, movementsPlanned }, answer, writer);
    },
  );
}

/**
 * The claim and the whole answer in one statement, where the row is as it was when it was taken.
 * @returns undefined where it is not so; then nothing is written
 */
async function settleSeen(db: Queries, request: SettleAnswerRequest): Promise<SettledAnswer | undefined> {
  const { of, intent, outcome, answer, seen, movementsPlanned, writer } = request;
  if (seen === undefined || outcome.kind !== "document") return undefined;
  const next = withAnswer(seen, { ...of, movementsPlanned }, answer, writer);
  if (next === undefined) return undefined;
  const change = { claim: "document", claimed_id: storableText(outcome.documentId) } as const;
  // Who follows the events finds the document in its last one.
  const events = [claimEvent(of, writer, { what: "created", intent, change }), savedEvent(next, writer)];
  const columns = { ...documentColumns(next), answered_at: new Date(answer.askedAtMs) };
  const where = whereDocument(documentKey(request, of));
  const { rows } = await sql<{ given_back: boolean }>`
    with seen as materialized (
      select from documents as d
      where ${where} and d.event_number = ${seen.eventNumber} and d.intent = ${intent} and d.claim = 'in-doubt'
      for update),
    event as materialized (select (${appended(request, events)})[2] as number from seen)
    update documents as d
    set ${sql.join(assignments(columns))}, ${claimAssignments(change, OVER)}, event_number = event.number
    from event where ${where}
    returning ${of.type === "sale" ? anyGivenBack(request, of.number) : sql`false`} as given_back`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  return {
    ...(row.given_back && isSigned(answer.document) && { givenBack: true }),
    ...(seen.content.run.runId !== writer.runId && { otherRun: true }),
  };
}

/** Undefined where it is not this intent that is in doubt; then nothing is written. */
async function settleAwaited(
  db: Queries,
  request: SettleDocumentRequest,
  documentId: string,
): Promise<"settled" | undefined> {
  const change = { claim: "document", claimed_id: documentId } as const;
  return (await changeInDoubt(db, request, ["in-doubt"], "created", change)) ? "settled" : undefined;
}

async function settleDocument(db: Queries, request: SettleDocumentRequest, documentId: string): Promise<Settled> {
  const { of, intent, writer } = request;
  const kept = await rowOf(db, request);
  const { claim } = kept;
  if (claim.claimed_id === documentId) return "settled";
  const detail = { documentId };
  if (claim.claimed_id !== null || isOfAnother(kept.content, of)) {
    const told = {
      what: "contradicted",
      intent,
      detail: { ...detail, recorded: claim.claimed_id ?? kept.content.document?.id ?? "" },
    };
    await appendEvents(db, request, [claimEvent(of, writer, told)]);
    return "contradicted";
  }
  // Also where it was thought that there is none: a document that exists is never lost sight of.
  const isAwaited = claim.claim === "in-doubt" && claim.intent === intent;
  const what = claim.claim === null ? "found" : isAwaited ? "created" : "created-after-all";
  // Found without a take, as by a run that adopts what stands at the service.
  const change: ClaimChange = {
    claim: "document",
    claimed_id: documentId,
    ...(claim.claim === null && { intent }),
  };
  await changeClaim(db, whereDocument(documentKey(request, of)), change, isAwaited ? OVER : NO_LONGER_IN_DOUBT);
  await appendEvents(db, request, [claimEvent(of, writer, { what, intent, change, detail })]);
  return "settled";
}

/** The row, locked; made where a database knew nothing of the document. */
export async function rowOf(db: Queries, request: Omit<SettleDocumentRequest, "outcome" | "intent">): Promise<Kept> {
  const { of, writer } = request;
  const nowMs = Date.now();
  return await lockOrMake(db, request, unknownRun(of, undefined, writer, nowMs), new Date(nowMs));
}

/** What is settled already stays as it is. */
async function settleNone(db: Queries, request: SettleDocumentRequest): Promise<"settled"> {
  const claim = request.outcome.kind === "nothing" ? "nothing" : "unsent";
  const from = claim === "nothing" ? (["in-doubt", "unsent"] as const) : (["in-doubt"] as const);
  await changeInDoubt(db, request, from, claim === "nothing" ? "not-created" : "unsent", {
    claim,
    claimed_id: null,
    ...(request.of.type === "credit_note" && { credits: null }),
  });
  return "settled";
}

/**
 * One statement: what an intent came to, with its event. False where the row is of another intent, or in another state.
 */
async function changeInDoubt(
  db: Queries,
  request: SettleDocumentRequest,
  from: readonly string[],
  what: string,
  change: ClaimChange,
): Promise<boolean> {
  const { of, intent, outcome, writer } = request;
  // What one execution has not sent, says nothing of what another one may have.
  const { execution } = outcome.kind === "unsent" ? outcome : {};
  const isMeant = execution === undefined ? sql`true` : sql`d.execution = ${execution}`;
  const { rows } = await sql`
    with written as (
      update documents as d set ${claimAssignments(change, OVER)}
      where ${whereDocument(documentKey(request, of))}
        and d.intent = ${intent} and d.claim = any(${from}::text[]) and ${isMeant}
      returning d.number)
    select ${appended(request, [claimEvent(of, writer, { what, intent, change })])} from written`.execute(db);
  return rows.length > 0;
}
