import type { Queries } from "../database.ts";
import { accountingChain } from "../events/accounting-chain.ts";
import type { NewEvent, Writer } from "../events/chain.ts";
import { businessColumns } from "../events/row.ts";
import type { BillPaymentChange } from "./bill-payments.ts";

export const KINDS = {
  seen: "bill-payment-seen",
  missing: "bill-payment-missing",
} as const;

export type Change = Pick<BillPaymentChange, "what" | "before" | "after">;

export interface Content {
  changes: Change[];
  /** All that the service said, so that the row can be held against it. */
  billPayment?: unknown;
}

export function subjectOf(id: string): string {
  return `bill payment ${id}`;
}

/** A look that brought something new. */
export function seenEvent(id: string, changes: Change[], body: string | undefined, writer: Writer): NewEvent {
  const content: Content = { changes, ...(body !== undefined && { billPayment: JSON.parse(body) as unknown }) };
  return { kind: KINDS.seen, subject: subjectOf(id), content, writer };
}

/** A full synchronisation that did not find it. */
export function missingEvent(id: string, writer: Writer): NewEvent {
  const content: Content = { changes: [{ what: "missing", before: null, after: null }] };
  return { kind: KINDS.missing, subject: subjectOf(id), content, writer };
}

/** Oldest first. */
export async function historyOf(db: Queries, connection: string, id: string): Promise<BillPaymentChange[]> {
  const chain = businessColumns(accountingChain(connection));
  const rows = await db
    .selectFrom("events")
    .select(["at", "content", "workflow_id", "run_id"])
    .where("connection", "=", chain.connection)
    .where("business_id", "=", chain.business_id)
    .where("subject", "=", subjectOf(id))
    .where("kind", "in", Object.values(KINDS))
    .orderBy("number")
    .execute();
  return rows.flatMap(({ at, content, workflow_id: workflowId, run_id: runId }) => {
    const { changes } = JSON.parse(content) as Content;
    return changes.map((change) => ({ atMs: at.getTime(), ...change, writer: { workflowId, runId } }));
  });
}
