import type { Queries } from "../database.ts";
import { cleanText } from "../storable-text.ts";
import type { DocumentDecision, DocumentState } from "./claims.ts";
import {
  checkIntent,
  decisionOf,
  insertRow,
  lockRow,
  NO_LONGER_IN_DOUBT,
  NOTHING_SENT,
  recordEvent,
  updateRow,
} from "./row.ts";

export interface DecideRequest {
  workflowId: string;
  intent: number;
  decision: { saleId: string } | "not-created";
  note: string;
  by?: string | undefined;
  nowMs: number;
}

export async function decide(db: Queries, request: DecideRequest): Promise<void> {
  checkIntent(request.intent);
  const { workflowId, intent, decision } = request;
  const word: DocumentDecision = {
    decision,
    note: cleanText(request.note),
    ...(request.by === undefined ? {} : { by: cleanText(request.by) }),
    atMs: request.nowMs,
  };
  const settled =
    decision === "not-created"
      ? { state: "nothing" as const, document_id: null }
      : { state: "document" as const, document_id: decision.saleId };
  const text = cleanText(JSON.stringify(word));
  const inserted = await insertRow(db, {
    workflow_id: workflowId,
    intent,
    ...settled,
    ...NOTHING_SENT,
    decision: text,
  });
  const row = inserted ? undefined : await lockRow(db, workflowId);
  const event = { intent, detail: word };
  if (row && saysSo(row, request)) return;
  // What is known is not undone by a word; nor does a decision on an older intent close a newer one.
  const counts =
    row === undefined ||
    (row.document_id === null ? decision !== "not-created" || intent >= row.intent : isSame(row.document_id, decision));
  if (!counts) {
    await recordEvent(db, workflowId, { ...event, what: "decision-refused" });
    return;
  }
  if (row) {
    const newest = Math.max(intent, row.intent);
    await updateRow(db, workflowId, { ...settled, intent: newest, ...NO_LONGER_IN_DOUBT, decision: text });
  }
  const what = decision === "not-created" ? "decided-not-created" : "decided-document";
  await recordEvent(db, workflowId, { ...event, what });
}

function isSame(documentId: string, decision: DecideRequest["decision"]): boolean {
  return decision !== "not-created" && decision.saleId === documentId;
}

/** The same word again, about the same intent. */
function saysSo(row: NonNullable<Awaited<ReturnType<typeof lockRow>>>, { intent, decision }: DecideRequest): boolean {
  const earlier = decisionOf(row).decision?.decision;
  if (earlier === undefined) return false;
  if (decision === "not-created") return earlier === "not-created" && row.intent === intent && row.state === "nothing";
  return earlier !== "not-created" && earlier.saleId === decision.saleId;
}

export async function read(db: Queries, workflowId: string): Promise<DocumentState | undefined> {
  const row = await db
    .selectFrom("document_claims")
    .selectAll()
    .where("workflow_id", "=", workflowId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    intent: row.intent,
    ...(row.document_id === null ? {} : { documentId: row.document_id }),
    ...(row.first_sent_at === null ? {} : { firstSentAtMs: row.first_sent_at.getTime() }),
    ...decisionOf(row),
  };
}
