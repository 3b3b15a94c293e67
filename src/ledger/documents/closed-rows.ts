import type { Queries } from "../database.ts";
import type { Writer } from "../events/chain.ts";

/** A row whose run ended without an outcome. */
export interface ClosedRow {
  business: { connection: string; businessId: string };
  of: { type: "sale" | "credit_note"; number: string };
  /** The run that ended, or one before it. */
  writer: Writer;
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
