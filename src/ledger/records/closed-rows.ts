import type { ClosedRun } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import { contentOfKept, documentKey, lockKept, rewrite } from "./save.ts";

/** A row whose run ended without an outcome. */
export interface ClosedRow {
  business: { connection: string; businessId: string };
  of: { type: "sale" | "credit_note"; number: string };
  /** Who wrote it: the run that ended, or one before it. */
  writer: Writer;
}

/** Which run wrote the document's row. A run that carries on another one may not have written it yet. */
export async function writerOf(db: Queries, business: Business, of: ClosedRow["of"]): Promise<Writer | undefined> {
  const { connection, business_id, type, number } = documentKey(business, of);
  const row = await db
    .selectFrom("documents")
    .select(["workflow_id", "run_id"])
    .where((eb) => eb.and({ connection, business_id }))
    .where("type", "=", type)
    .where("number", "=", number)
    .executeTakeFirst();
  return row && { workflowId: row.workflow_id, runId: row.run_id };
}

/**
 * Keeps that the workflow of a document ended without an outcome; without `closed`, that a run carries it on. A row
 * that another run than `runId` has written since stays as it is. To be repeated freely.
 */
export async function markClosed(
  db: Queries,
  business: Business,
  of: ClosedRow["of"],
  runId: string,
  closed: ClosedRun | undefined,
): Promise<void> {
  const kept = await lockKept(db, documentKey(business, of));
  if (!kept || kept.run_id !== storableText(runId)) return;
  const { closed: _before, ...content } = contentOfKept(kept);
  await rewrite(db, business, kept, { ...content, ...(closed && { closed }) });
}

/** Every row that is marked so, of all businesses. */
export async function closedRows(db: Queries): Promise<ClosedRow[]> {
  const rows = await db
    .selectFrom("documents")
    .select(["connection", "business_id", "type", "number", "workflow_id", "run_id"])
    .where("closed", "is not", null)
    .execute();
  return rows.map(({ connection, business_id, type, number, workflow_id: workflowId, run_id: runId }) => ({
    business: { connection, businessId: business_id },
    of: { type, number },
    writer: { workflowId, runId },
  }));
}
