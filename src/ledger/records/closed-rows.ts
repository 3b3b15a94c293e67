import type { Queries } from "../database.ts";
import type { Business, Writer } from "../events/chain.ts";
import { documentKey } from "./row.ts";

/** A row whose run ended without an outcome. */
export interface ClosedRow {
  business: { connection: string; businessId: string };
  of: { type: "sale" | "credit_note"; number: string };
  /** The run that ended, or one before it. */
  writer: Writer;
}

/** Which run carries the document on. After a reset the run may not have told yet. */
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
