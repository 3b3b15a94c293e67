import { sql } from "kysely";

import type { SettledAnswer } from "../../contract/index.ts";
import { changeClaim, checkTry, type Columns, eventOf, update, whereRow, writeWithEvent } from "../claims/claim.ts";
import type { Database, Queries } from "../database.ts";
import { appended, appendEvents } from "../events/append-events.ts";
import { documentColumns } from "./columns.ts";
import { isOfAnother, isSigned, type Kept, lockOrMake, savedEvent } from "./row.ts";
import { answered, unknownRun, withAnswer } from "./write.ts";
import { anyGivenBack } from "../stock/taken.ts";
import { assignments } from "../statements.ts";
import { storableText } from "../storable-text.ts";
import { documentClaim, NO_LONGER_IN_DOUBT } from "./claim-row.ts";
import type { SettleAnswerRequest, SettleDocumentRequest } from "./claims.ts";

type Settled = "settled" | "contradicted";

/** Whoever has the outcome of an intent sends it no more. */
const OVER = { ...NO_LONGER_IN_DOUBT, under_way_until: null } as const;

export function settle(database: Database, request: SettleDocumentRequest): Promise<Settled> {
  checkTry(request.intent);
  const { outcome } = request;
  if (outcome.kind !== "document") return database.query((db) => settleNone(db, request));
  const documentId = storableText(outcome.documentId);
  const change = { claim: "document", claimed_id: documentId };
  return database.inOneStatement<Settled>(
    async (db) => ((await changeInDoubt(db, request, ["in-doubt"], "created", change)) ? "settled" : undefined),
    (db) => settleDocument(db, request, documentId),
  );
}

/** Both are written, or neither. */
export function settleAnswered(database: Database, request: SettleAnswerRequest): Promise<SettledAnswer> {
  checkTry(request.intent);
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
  const kept = await rowOf(db, request);
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
  // Also where it was thought that there is none: a document that exists is never lost sight of.
  const isAwaited = before.claim === "in-doubt" && before.intent === intent;
  const what = before.claim === null ? "found" : isAwaited ? "created" : "created-after-all";
  // Found without a take, as by a run that adopts what stands at the service.
  const change = { claim: "document", claimed_id: documentId, ...(before.claim === null && { intent }) };
  const columns = isAwaited ? OVER : NO_LONGER_IN_DOUBT;
  await changeClaim(db, claim, writer, { what, intent, change, detail }, columns);
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
  change: Columns,
): Promise<boolean> {
  const { of, intent, outcome, writer } = request;
  // What one execution has not sent, says nothing of what another one may have.
  const { execution } = outcome.kind === "unsent" ? outcome : {};
  const isMeant = execution === undefined ? sql`true` : sql`execution = ${execution}`;
  const claim = documentClaim(request, of);
  const written = sql`
    ${update(claim, change, OVER)} and intent = ${intent} and claim = any(${from}::text[]) and ${isMeant}
    returning intent`;
  return await writeWithEvent(db, claim, written, eventOf(claim, writer, { what, intent, change }));
}
