import type { Queries } from "../database.ts";
import type { NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import type { Change } from "./compare.ts";
import type { PurchaseChange, PurchaseScope } from "./purchases.ts";

/** A look at a purchase that brought something new; the event says all of it. */
export const SEEN = "purchase-seen";
/** A look at the whole list that did not find it. */
export const MISSING = "purchase-missing";

interface Content {
  changes: Change[];
  /** All that the service said, so that the row can be held against it. */
  purchase?: unknown;
}

export function subjectOf(purchaseId: string): string {
  return `purchase ${purchaseId}`;
}

export function seenEvent(id: string, changes: Change[], body: string, writer: Writer): NewEvent {
  const content: Content = { changes, purchase: JSON.parse(body) as unknown };
  return { kind: SEEN, subject: subjectOf(id), content, writer };
}

export function missingEvent(id: string, writer: Writer): NewEvent {
  const content: Content = { changes: [{ what: "missing", before: null, after: null }] };
  return { kind: MISSING, subject: subjectOf(id), content, writer };
}

/** Oldest first. */
export async function historyOf(db: Queries, scope: PurchaseScope, purchaseId: string): Promise<PurchaseChange[]> {
  const { connection, business_id } = businessColumns(scope);
  const rows = await db
    .selectFrom("events")
    .select(["at", "content", "workflow_id", "run_id"])
    .where("connection", "=", connection)
    .where("business_id", "=", business_id)
    .where("subject", "=", subjectOf(purchaseId))
    .where("kind", "in", [SEEN, MISSING])
    .orderBy("number")
    .execute();
  return rows.flatMap(({ at, content, workflow_id: workflowId, run_id: runId }) => {
    const { changes } = JSON.parse(content) as Content;
    return changes.map((change) => ({ atMs: at.getTime(), ...change, writer: { workflowId, runId } }));
  });
}
