import { type RawBuilder, sql } from "kysely";

import type { BillPayment, BillPaymentStatus } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { BillPaymentSummary, KeptBillPayment, SeenCounts } from "./bill-payments.ts";

export async function summary(db: Queries, connection: string): Promise<BillPaymentSummary> {
  const there = await countBy(db, connection, sql`missing_since is null`);
  const gone = await countBy(db, connection, sql`missing_since is not null`);
  return { ...there, missing: gone.total };
}

/** Counted by status; `none` for those of none. */
export async function countBy(
  db: Queries,
  connection: string,
  which: RawBuilder<unknown>,
  status: RawBuilder<unknown> = sql`sync_status`,
): Promise<SeenCounts> {
  const { rows } = await sql<{ status: string; count: string }>`
    select coalesce(${status}, 'none') as status, count(*)
    from bill_payments where connection = ${connection} and ${which}
    group by 1 order by 1`.execute(db);
  const counts = rows.map(({ status, count }): [string, number] => [status, Number(count)]);
  return { total: counts.reduce((sum, [, count]) => sum + count, 0), byStatus: Object.fromEntries(counts) };
}

export async function page(
  db: Queries,
  connection: string,
  { afterId = "", most }: { afterId?: string | undefined; most: number },
): Promise<KeptBillPayment[]> {
  const rows = await db
    .selectFrom("bill_payments")
    .select(["body", "sync_status", "first_seen_at", "changed_at", "missing_since", "workflow_id", "run_id"])
    .where("connection", "=", connection)
    .where("bill_payment_id", ">", afterId)
    .orderBy("bill_payment_id")
    .limit(most)
    .execute();
  return rows.map((row) => ({
    billPayment: JSON.parse(row.body) as BillPayment,
    syncStatus: row.sync_status as BillPaymentStatus | null,
    firstSeenAtMs: row.first_seen_at.getTime(),
    changedAtMs: row.changed_at.getTime(),
    missingSinceMs: row.missing_since?.getTime() ?? null,
    writer: { workflowId: row.workflow_id, runId: row.run_id },
  }));
}
