import { sql } from "kysely";

import type { Database, Queries } from "../database.ts";
import type { DocumentOutcome } from "./claims.ts";
import {
  checkIntent,
  type ClaimEvent,
  type DocumentRow,
  eventsOf,
  insertRow,
  lockRow,
  NO_LONGER_IN_DOUBT,
  NOTHING_SENT,
  recordEvent,
  updateRow,
} from "./row.ts";

export interface SettleRequest {
  workflowId: string;
  intent: number;
  outcome: DocumentOutcome;
  nowMs: number;
}

export function settle(database: Database, request: SettleRequest): Promise<"settled" | "contradicted"> {
  checkIntent(request.intent);
  const { outcome } = request;
  if (outcome.kind !== "document") return database.query((db) => settleNone(db, request, outcome.kind));
  const { documentId } = outcome;
  return database.inOneStatement(
    (db) => settleAwaited(db, request, documentId),
    (db) => settleDocument(db, request, documentId),
  );
}

/** Undefined where it is not this intent that is in doubt; then nothing is written. */
async function settleAwaited(
  db: Queries,
  { workflowId, intent, nowMs }: SettleRequest,
  documentId: string,
): Promise<"settled" | undefined> {
  const isSettled = await changeInDoubt(
    db,
    { workflowId, intent, from: ["in-doubt"] },
    { state: "document", document_id: documentId },
    { intent, what: "document", detail: { documentId, nowMs } },
  );
  return isSettled ? "settled" : undefined;
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

/** What is settled already stays as it is. */
async function settleNone(
  db: Queries,
  { workflowId, intent, nowMs }: SettleRequest,
  state: "nothing" | "unsent",
): Promise<"settled"> {
  const from = state === "nothing" ? (["in-doubt", "unsent"] as const) : (["in-doubt"] as const);
  const event = { intent, what: state, detail: { nowMs } };
  await changeInDoubt(db, { workflowId, intent, from }, { state, document_id: null }, event);
  return "settled";
}

/**
 * One statement: what an intent came to, with its event. False where the row is of another intent, or in another state.
 */
async function changeInDoubt(
  db: Queries,
  { workflowId, intent, from }: { workflowId: string; intent: number; from: readonly DocumentRow["state"][] },
  to: Pick<DocumentRow, "state" | "document_id">,
  event: ClaimEvent,
): Promise<boolean> {
  const { rows } = await sql`
    with claim as (
      update document_claims
      set state = ${to.state}, document_id = ${to.document_id}, first_sent_at = null, request = null,
        under_way_until = null
      where workflow_id = ${workflowId} and intent = ${intent} and state = any(${from}::text[])
      returning workflow_id)
    insert into document_claim_events (workflow_id, intent, what, detail)
    ${eventsOf("claim", event)} returning what`.execute(db);
  return rows.length > 0;
}
