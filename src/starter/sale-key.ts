import { DEFAULT_CONNECTION, saleWorkflowId } from "../contract/index.ts";

/** What names a sale to its callers. */
export interface SaleKey {
  invoice: string;
  connection?: string;
  businessId?: string;
}

export function saleIdOf({ invoice, connection = DEFAULT_CONNECTION, businessId }: SaleKey): string {
  return saleWorkflowId({ connection, businessId, traderInvoiceNumber: invoice });
}
