import type { Queries } from "../database.ts";
import { changeClaim, checkTry, eventOf, whereRow } from "../claims/claim.ts";
import { appendEvents } from "../events/append-events.ts";
import type { RowContent } from "./columns.ts";
import { documentsWithEvents, isOfAnother } from "./row.ts";
import { storableText } from "../storable-text.ts";
import { type ClaimRow, decisionOf, documentClaim, type DocumentDecision, NO_LONGER_IN_DOUBT } from "./claim-row.ts";
import type { DecideDocumentRequest, DocumentKey, DocumentState } from "./claims.ts";
import { rowOf } from "./settle.ts";

export async function decide(db: Queries, request: DecideDocumentRequest): Promise<void> {
  checkTry(request.intent);
  const { of, intent, decision, writer } = request;
  const kept = await rowOf(db, request);
  const { claim: row } = kept;
  if (saysSo(row, request)) return;
  const word: DocumentDecision = { decision, note: request.note, by: request.by, atMs: request.nowMs };
  const claim = documentClaim(request, of);
  // What is known is not undone by a word; nor does a decision on an older intent close a newer one.
  const counts =
    !isOfAnother(kept.content, of) &&
    (row.claimed_id === null ? decision !== "not-created" || intent >= row.intent : isSame(row.claimed_id, decision));
  if (!counts) {
    await appendEvents(db, request, [eventOf(claim, writer, { what: "decision-refused", intent, detail: word })]);
    return;
  }
  const newest = Math.max(intent, row.intent);
  const isNone = decision === "not-created";
  const change = {
    intent: newest,
    ...(isNone
      ? { claim: "nothing", claimed_id: null, ...(of.type === "credit_note" && { credits: null }) }
      : { claim: "document", claimed_id: storableText(decision.saleId) }),
    claim_decision: word,
  };
  const event = { what: isNone ? "decided-not-created" : "decided-created", intent, change };
  await changeClaim(db, claim, writer, event, NO_LONGER_IN_DOUBT);
}

function isSame(documentId: string, decision: DecideDocumentRequest["decision"]): boolean {
  return decision !== "not-created" && decision.saleId === documentId;
}

/** The same word again, about the same intent. */
function saysSo(row: ClaimRow, { intent, decision }: DecideDocumentRequest): boolean {
  const earlier = decisionOf(row).decision?.decision;
  if (earlier === undefined) return false;
  if (decision === "not-created") return earlier === "not-created" && row.intent === intent && row.claim === "nothing";
  return earlier !== "not-created" && earlier.saleId === decision.saleId;
}

export async function read(db: Queries, key: DocumentKey): Promise<DocumentState | undefined> {
  const { of } = key;
  const row = await documentsWithEvents(db)
    .select(["d.intent", "d.claim", "d.claimed_id", "d.first_sent_at", "d.claim_decision", "e.content"])
    .where(whereRow(documentClaim(key, of), "d"))
    .executeTakeFirst();
  if (row === undefined || row.claim === null || isOfAnother(JSON.parse(row.content) as RowContent, of))
    return undefined;
  return {
    intent: row.intent,
    ...(row.claimed_id === null ? {} : { documentId: row.claimed_id }),
    ...(row.first_sent_at === null ? {} : { firstSentAtMs: row.first_sent_at.getTime() }),
    ...decisionOf(row),
  };
}
