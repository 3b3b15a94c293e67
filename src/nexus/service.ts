import { operation, service } from "nexus-rpc";

import type { RefundRequest, SaleInput } from "../contract/schema/sale.ts";
import type { SaleOutcome } from "../contract/messages.ts";
import type { SaleKey } from "../starter/sale-key.ts";

/** Input of the operation `refund`: the sale that is reversed, and how. */
export interface RefundInput extends SaleKey {
  refund: RefundRequest;
}

/**
 * What workflows of other namespaces ask fiscalflow for, by way of a Nexus endpoint
 * (https://github.com/fiscalflow/fiscalflow/blob/main/docs/nexus.md). A worker serves it where
 * `FISCALFLOW_WORKER_NEXUS` is set. Workflow code may import this file.
 * @experimental as Nexus is in Temporal's SDK
 */
export const fiscalService = service("fiscal", {
  /**
   * Starts a sale, or finds the one that has its number, and completes with its first outcome: once it is settled, or
   * its document needs an operator. It does not wait for the end of the refund window.
   */
  sale: operation<SaleInput, SaleOutcome>(),
  /** Reverses a sale in full, and completes once the credit note is settled, or needs an operator. */
  refund: operation<RefundInput, SaleOutcome>(),
});
