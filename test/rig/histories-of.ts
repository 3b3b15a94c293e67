import type { SaleInput } from "../../src/contract/index.ts";
import type { HistoryEvent } from "./goods.ts";
import type { Rig } from "./start-rig.ts";

/**
 * Sales of one line that are run to their end, for what their histories hold.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function historiesOf(rig: () => Rig) {
  return {
    /** @param wait with seconds, somebody waits for its first outcome */
    historyOf: async (
      traderInvoiceNumber: string,
      more: Partial<SaleInput> = {},
      wait: { waitSeconds?: number } = {},
    ): Promise<HistoryEvent[]> => {
      const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
      const sale = { traderInvoiceNumber, lines, refundWindow: "0", ...more };
      const { workflowId } = await (wait.waitSeconds
        ? rig().starter.startSaleAndWait(sale, wait)
        : rig().starter.startSale(sale));
      const handle = rig().client.workflow.getHandle(workflowId);
      await handle.result();
      return (await handle.fetchHistory()).events ?? [];
    },
    /** The authority takes a moment; the callback comes then. */
    inFlight: (invoice: string): void => rig().simulator.setAuthority(invoice, [{ do: "accept", afterMs: 800 }]),
  };
}

export function workflowTasksIn(events: readonly HistoryEvent[]): number {
  return events.filter(({ workflowTaskCompletedEventAttributes: task }) => task).length;
}
