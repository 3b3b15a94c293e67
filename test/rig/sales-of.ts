import type { WorkflowHandle } from "@temporalio/client";

import {
  type AttentionCode,
  MAIN_TASK_QUEUE,
  type SaleInput,
  type SaleOutcome,
  type WorkflowState,
} from "../../src/contract/index.ts";
import type { Rig } from "./start-rig.ts";

/** Two packets of tea: stock-tracked, known to the authority. */
export const TEA = { itemId: "item_tea", quantity: 2, unitPrice: 350 };

/** A sale of tea that closes as soon as it is completed, unless it is said otherwise. */
export function saleOfTea(traderInvoiceNumber: string, more: Partial<SaleInput> = {}): SaleInput {
  return { traderInvoiceNumber, lines: [TEA], refundWindow: "0", ...more };
}

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
    /** {@link saleOfTea} */
    start: async (traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<SaleHandle> => {
      const { workflowId } = await rig().starter.startSale(saleOfTea(traderInvoiceNumber, more));
      return rig().client.workflow.getHandle(workflowId);
    },
    /** As another program would that knows nothing of the starter. */
    startDirectly: (workflowId: string, saleInput: unknown) =>
      rig().client.workflow.start("sale", { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [saleInput] }),
    /** As a caller who waits: the sale's end, or what holds it up. It closes as soon as it is completed. */
    sell: async (traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<SaleOutcome> => {
      const input = saleOfTea(traderInvoiceNumber, more);
      const { outcome } = await rig().starter.startSaleAndWait(input, { waitSeconds: 20 });
      if (outcome.stage !== "completed" || outcome.attention) return outcome;
      return await handleOf(traderInvoiceNumber).result();
    },
    /**
     * Completed and its goods taken, with a refund window that is open unless it is said otherwise. A movement that is
     * under way when the API goes away needs an operator.
     */
    sold: async (traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<SaleOutcome> => {
      const input = { traderInvoiceNumber, lines: [TEA], ...more };
      const { outcome } = await rig().starter.startSaleAndWait(input, { waitSeconds: 20 });
      if (outcome.stage !== "completed") throw new Error(`not completed: ${JSON.stringify(outcome)}`);
      await rig().stateWhen(traderInvoiceNumber, ({ stockMovements }) =>
        stockMovements.every(({ state }) => state === "applied"),
      );
      return outcome;
    },
    creditNotesOf: (saleId: string | undefined) =>
      rig()
        .simulator.documents()
        .filter((document) => document.originalSaleId === saleId),
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
