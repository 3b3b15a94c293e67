import type { Queries } from "../database.ts";
import type { DocumentOutcome } from "./claims.ts";
import { checkIntent, insertRow, lockRow, NO_LONGER_IN_DOUBT, NOTHING_SENT, recordEvent, updateRow } from "./row.ts";

export interface SettleRequest {
  workflowId: string;
  intent: number;
  outcome: DocumentOutcome;
  nowMs: number;
}

export async function settle(db: Queries, request: SettleRequest): Promise<"settled" | "contradicted"> {
  checkIntent(request.intent);
  const { outcome } = request;
  return outcome.kind === "document"
    ? settleDocument(db, request, outcome.documentId)
    : settleNone(db, request, outcome.kind);
}

async function settleDocument(
  db: Queries,
  { workflowId, intent, nowMs }: SettleRequest,
  documentId: string,
): Promise<"settled" | "contradicted"> {
  const detail = { documentId, nowMs };
  const found = { intent, state: "document" as const, document_id: documentId };
  // Found without a `begin`, as by a run that adopts what stands at the service.
  if (await insertRow(db, { workflow_id: workflowId, ...found, ...NOTHING_SENT, decision: null })) {
    await recordEvent(db, workflowId, { intent, what: "document-found", detail });
    return "settled";
  }
  const row = await lockRow(db, workflowId);
  if (row === undefined) throw new Error("a claim vanished: rows are never deleted");
  if (row.document_id === documentId) return "settled";
  if (row.document_id !== null) {
    await recordEvent(db, workflowId, {
      intent,
      what: "contradicted",
      detail: { ...detail, recorded: row.document_id },
    });
    return "contradicted";
  }
  // Also where it was thought that there is none: a document that exists is never lost sight of.
  const what = row.state === "in-doubt" && row.intent === intent ? "document" : "document-after-all";
  await updateRow(db, workflowId, { state: "document", document_id: documentId, ...NO_LONGER_IN_DOUBT });
  await recordEvent(db, workflowId, { intent, what, detail });
  return "settled";
}

async function settleNone(
  db: Queries,
  { workflowId, intent, nowMs }: SettleRequest,
  state: "nothing" | "unsent",
): Promise<"settled"> {
  const row = await lockRow(db, workflowId);
  const isOpen =
    row?.intent === intent && (row.state === "in-doubt" || (row.state === "unsent" && state === "nothing"));
  if (!isOpen) return "settled";
  await updateRow(db, workflowId, { state, ...NO_LONGER_IN_DOUBT });
  await recordEvent(db, workflowId, { intent, what: state, detail: { nowMs } });
  return "settled";
}
