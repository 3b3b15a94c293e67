import type { WorkflowHandle } from "@temporalio/client";

import type { SaleInput, SaleOutcome, StockMovement } from "../../src/contract/index.ts";
import type { Simulator } from "../../src/dev/simulator/index.ts";
import type { Rig } from "./start-rig.ts";

/** So many stock-tracked items. */
export function goods(count: number) {
  return Array.from({ length: count }, (_, n) => ({
    id: `goods_${n}`,
    businessId: "biz_1",
    name: `Goods ${n}`,
    unitPrice: 100,
  }));
}

/** The reference of what a sale takes of one of them. */
export function takenOf(invoice: string, n: number): string {
  return `${invoice}/goods_${n}/sold`;
}

/** How often the service has made each movement of this document. */
export function bookedIn(simulator: Simulator, number: string): Map<string, number> {
  const times = new Map<string, number>();
  for (const { referenceId } of simulator.books().movements) {
    if (referenceId?.startsWith(`${number}/`)) times.set(referenceId, (times.get(referenceId) ?? 0) + 1);
  }
  return times;
}

/** What suites do with sales of many items. @param rig asked when it is needed */
export function largeSalesOf(rig: () => Rig, count: number) {
  const handleOf = (invoice: string) =>
    rig().client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(rig().starter.workflowId({ invoice }));
  return {
    handleOf,
    /** One of each item. */
    start: async (traderInvoiceNumber: string, more: Partial<SaleInput> = {}) => {
      const lines = goods(count).map(({ id }) => ({ itemId: id, quantity: 2, unitPrice: 100 }));
      await rig().starter.startSale({ traderInvoiceNumber, lines, refundWindow: "0", ...more });
      return handleOf(traderInvoiceNumber);
    },
    booked: (number: string) => bookedIn(rig().simulator, number),
    onHand: (): (number | undefined)[] => {
      const { stockOnHand } = rig().simulator.books();
      return goods(count).map(({ id }) => stockOnHand[id]?.["branch_1"] ?? 0);
    },
    eventsOf: async (workflowId: string): Promise<number> =>
      (await rig().client.workflow.getHandle(workflowId).fetchHistory()).events?.length ?? 0,
  };
}

export function countOf(movements: readonly StockMovement[], state: StockMovement["state"]): number {
  return movements.filter((movement) => movement.state === state).length;
}

export type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle["fetchHistory"]>>["events"]>[number];

/** How many of these activities were open at the same time. */
export function mostAtOnce(events: readonly HistoryEvent[], activity: string): number {
  const open = new Set<string>();
  let most = 0;
  for (const event of events) {
    if (event.activityTaskScheduledEventAttributes?.activityType?.name === activity) open.add(String(event.eventId));
    most = Math.max(most, open.size);
    open.delete(String(event.activityTaskCompletedEventAttributes?.scheduledEventId));
  }
  return most;
}
