import { type Insertable, type Selectable, sql } from "kysely";

import { NO_BUSINESS, type Purchase } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import type { PurchasesTable } from "../tables.ts";
import type { Change, PurchaseState } from "./compare.ts";
import type { PurchaseScope, PurchaseWriter } from "./purchases.ts";

export interface ScopeColumns {
  connection: string;
  business_id: string;
}

export function scopeColumns({ connection, businessId }: PurchaseScope): ScopeColumns {
  return { connection, business_id: businessId ?? NO_BUSINESS };
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
    subtotal: String(totals.subtotal),
    vat: String(totals.vat),
    total: String(totals.total),
    content_hash: state.contentHash,
    body: state.body,
  } satisfies Partial<Insertable<PurchasesTable>>;
}

function textOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : storableText(text);
}

export function stateOfRow(row: PurchaseRow): PurchaseState {
  const { status, confirmation_error: confirmationError, content_hash: contentHash, body } = row;
  return { status, confirmationError, contentHash, body };
}

export function writerColumns({ workflowId, runId }: PurchaseWriter): { workflow_id: string; run_id: string } {
  return { workflow_id: storableText(workflowId), run_id: storableText(runId) };
}

/** Two transactions about one business follow each other: a page that was lost on its way may still be on its way. */
export async function lockBusiness(db: Queries, { connection, business_id }: ScopeColumns): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`purchases ${connection} ${business_id}`}, 0))`.execute(db);
}

export async function writeHistory(
  db: Queries,
  scope: ScopeColumns,
  changes: readonly { purchaseId: string; change: Change }[],
  writer: PurchaseWriter,
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ purchaseId, change }) => ({
    ...scope,
    purchase_id: purchaseId,
    what: change.what,
    before: jsonText(change.before),
    after: jsonText(change.after),
    ...writerColumns(writer),
  }));
  await db.insertInto("purchase_history").values(rows).execute();
}

function jsonText(value: unknown): string | null {
  return value === null || value === undefined ? null : storableText(JSON.stringify(value));
}
