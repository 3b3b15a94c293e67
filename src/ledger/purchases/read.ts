import { sql } from "kysely";

import type { Purchase } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { businessColumns } from "../events/row.ts";
import type { KeptPurchase, PurchaseScope, PurchaseSummary } from "./purchases.ts";

export async function summary(db: Queries, scope: PurchaseScope, most: number): Promise<PurchaseSummary> {
  const { connection, business_id } = businessColumns(scope);
  const ofBusiness = sql`connection = ${connection} and business_id = ${business_id}`;
  const present = sql`${ofBusiness} and missing_since is null`;
  const statuses = await sql<{ status: string; count: string }>`
    select status, count(*) from purchases where ${present} group by status order by status`.execute(db);
  const errors = await sql<{ purchase_id: string; number: string; error: string; count: string }>`
    select purchase_id, supplier_invoice_number as number, confirmation_error as error, count(*) over () as count
    from purchases where ${present} and confirmation_error is not null
    order by invoice_date desc, purchase_id limit ${most}`.execute(db);
  const duplicates = await sql<{ pin: string; number: string; ids: string[]; count: string }>`
    select supplier_pin as pin, supplier_invoice_number as number, array_agg(purchase_id order by purchase_id) as ids,
      count(*) over () as count
    from purchases where ${present} and supplier_pin is not null
    group by supplier_pin, supplier_invoice_number having count(*) > 1
    order by supplier_pin, supplier_invoice_number limit ${most}`.execute(db);
  const missing = await sql<{ purchase_id: string; count: string }>`
    select purchase_id, count(*) over () as count from purchases where ${ofBusiness} and missing_since is not null
    order by missing_since desc, purchase_id limit ${most}`.execute(db);
  const counts = statuses.rows.map(({ status, count }) => [status, Number(count)] as const);
  return {
    total: counts.reduce((sum, [, count]) => sum + count, 0),
    byStatus: Object.fromEntries(counts),
    confirmationErrors: {
      count: countOf(errors.rows),
      first: errors.rows.map(({ purchase_id: purchaseId, number, error }) => ({
        purchaseId,
        supplierInvoiceNumber: number,
        confirmationError: error,
      })),
    },
    duplicates: {
      count: countOf(duplicates.rows),
      first: duplicates.rows.map(({ pin, number, ids }) => ({
        supplierPin: pin,
        supplierInvoiceNumber: number,
        purchaseIds: ids.slice(0, most),
      })),
    },
    missing: { count: countOf(missing.rows), first: missing.rows.map(({ purchase_id }) => purchase_id) },
  };
}

function countOf(rows: readonly { count: string }[]): number {
  return Number(rows[0]?.count ?? 0);
}

export async function page(
  db: Queries,
  scope: PurchaseScope,
  { afterId = "", most }: { afterId?: string | undefined; most: number },
): Promise<KeptPurchase[]> {
  const { connection, business_id } = businessColumns(scope);
  const rows = await db
    .selectFrom("purchases")
    .select(["body", "first_seen_at", "changed_at", "missing_since", "workflow_id", "run_id"])
    .where("connection", "=", connection)
    .where("business_id", "=", business_id)
    .where("purchase_id", ">", afterId)
    .orderBy("purchase_id")
    .limit(most)
    .execute();
  return rows.map((row) => ({
    purchase: JSON.parse(row.body) as Purchase,
    firstSeenAtMs: row.first_seen_at.getTime(),
    changedAtMs: row.changed_at.getTime(),
    missingSinceMs: row.missing_since?.getTime() ?? null,
    writer: { workflowId: row.workflow_id, runId: row.run_id },
  }));
}
