import type { WorkflowHandle } from "@temporalio/client";

import type { AttentionCode, SaleInput, SaleOutcome, WorkflowState } from "../../src/contract/index.ts";
import type { Rig } from "./start-rig.ts";

/** Two packets of tea: stock-tracked, known to the authority. */
export const TEA = { itemId: "item_tea", quantity: 2, unitPrice: 350 };

type SaleHandle = WorkflowHandle<(input: SaleInput) => Promise<SaleOutcome>>;

/**
 * What most suites do with their sales.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function salesOf(rig: () => Rig) {
  const handleOf = (invoice: string): SaleHandle =>
    rig().client.workflow.getHandle(rig().starter.workflowId({ invoice }));
  return {
    handleOf,
    /** A sale of tea that closes as soon as it is completed, unless it is said otherwise. */
    start: async (traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<SaleHandle> => {
      const sale = { traderInvoiceNumber, lines: [TEA], refundWindow: "0", ...more };
      const { workflowId } = await rig().starter.startSale(sale);
      return rig().client.workflow.getHandle(workflowId);
    },
    /** The state, once this is among what an operator is needed for. */
    parked: (invoice: string, code: AttentionCode): Promise<WorkflowState> =>
      rig().stateWhen(invoice, ({ attentions }) => attentions.some((attention) => attention.code === code)),
    result: (invoice: string): Promise<SaleOutcome> => handleOf(invoice).result(),
    movementsOf: (invoice: string) => {
      const { movements } = rig().simulator.books();
      return movements.filter(({ referenceId }) => referenceId?.startsWith(`${invoice}/`));
    },
    /** In the first branch. */
    onHand: (itemId = TEA.itemId): number => rig().simulator.books().stockOnHand[itemId]?.["branch_1"] ?? 0,
  };
}
