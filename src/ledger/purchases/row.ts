import { type Insertable, type Selectable, sql } from "kysely";

import { decimalText, givenText, type Purchase } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Writer } from "../events/chain.ts";
import { storableText } from "../storable-text.ts";
import type { PurchasesTable } from "../tables/purchases.ts";
import type { PurchaseState } from "./compare.ts";

export interface ScopeColumns {
  connection: string;
  business_id: string;
}

export type PurchaseRow = Selectable<PurchasesTable>;

/** What a purchase says, as columns. Amounts are kept as decimals, as the service wrote them. */
export function purchaseColumns(purchase: Purchase, state: PurchaseState) {
  const { supplier, totals, branch = null } = purchase;
  return {
    status: state.status,
    confirmation_error: state.confirmationError,
    supplier_name: textOrNull(supplier.name),
    supplier_pin: textOrNull(supplier.pin),
    supplier_invoice_number: storableText(purchase.supplierInvoiceNumber),
    invoice_date: storableText(purchase.invoiceDate),
    branch: textOrNull(branch),
    subtotal: decimalText(totals.subtotal),
    vat: decimalText(totals.vat),
    total: decimalText(totals.total),
    content_hash: state.contentHash,
    body: state.body,
  } satisfies Partial<Insertable<PurchasesTable>>;
}

function textOrNull(text: string | null | undefined): string | null {
  const given = givenText(text);
  return given === null ? null : storableText(given);
}

export function stateOfRow(row: PurchaseRow): PurchaseState {
  const { status, confirmation_error: confirmationError, content_hash: contentHash, body } = row;
  return { status, confirmationError, contentHash, body };
}

export function writerColumns({ workflowId, runId }: Writer): { workflow_id: string; run_id: string } {
  return { workflow_id: storableText(workflowId), run_id: storableText(runId) };
}

/** Two transactions about one business follow each other: a page that was given up may still be on its way. */
export async function lockBusiness(db: Queries, { connection, business_id }: ScopeColumns): Promise<void> {
  const name = JSON.stringify(["purchases", connection, business_id]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}

/** All rows of a business among these. */
export async function readRows(
  db: Queries,
  { connection, business_id }: ScopeColumns,
  ids: readonly string[],
): Promise<Map<string, PurchaseRow>> {
  const rows = await db
    .selectFrom("purchases")
    .selectAll()
    .where("connection", "=", connection)
    .where("business_id", "=", business_id)
    .where(sql<boolean>`purchase_id = any(${ids})`)
    .execute();
  return new Map(rows.map((row) => [row.purchase_id, row]));
}
