import { ActivityCancellationType, patched, proxyActivities, proxyLocalActivities } from "@temporalio/workflow";

import { MAIN_TASK_QUEUE, type MainActivities } from "../src/contract/index.ts";
import { PAUSES_OF_FAILURES } from "./pauses-of-failures.ts";
import { afterMessages } from "./run/end-of-turn.ts";
import { updatesComeLast } from "./run/updates-come-last.ts";

type MainCalls = Pick<
  MainActivities,
  | "prepareReconcile"
  | "prepareSale"
  | "prepareCreditNote"
  | "prepareSyncPurchases"
  | "prepareSyncBillPayments"
  | "prepareSyncBatch"
  | "prepareRegisterItems"
  | "composeSale"
  | "composeCreditNote"
>;

const queued = proxyActivities<MainCalls>({
  taskQueue: MAIN_TASK_QUEUE,
  // Nothing of a sale can be done before it, and it is over in milliseconds.
  priority: { priorityKey: 1 },
  startToCloseTimeout: "10 seconds",
  retry: PAUSES_OF_FAILURES,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

const local = afterMessages(
  proxyLocalActivities<MainCalls & Pick<MainActivities, "itemsInCatalogue">>({ startToCloseTimeout: "10 seconds" }),
);

/**
 * False in the replay of a run of up to release 0.3, which ran these within its workflow tasks. A query ends such a task at any moment, and a
 * replay is then given the local activity's end at another one (decision 0016): no run has any from now on.
 */
export function noLocalActivities(): boolean {
  return updatesComeLast() || patched("no-local-activities");
}

/** Before the connection is known: validation, look-ups, composing. No API call. */
export const main: MainCalls = new Proxy(queued, {
  get: (target, name): unknown => Reflect.get(noLocalActivities() ? target : local, name),
});

/** What runs of up to release 0.3 have in their histories beside: a replay's alone. */
export const asBefore = {
  itemsInCatalogue: local.itemsInCatalogue,
  saveRecordNow: afterMessages(
    proxyLocalActivities<Pick<MainActivities, "saveRecordNow">>({
      startToCloseTimeout: "2 seconds",
      retry: { maximumAttempts: 1 },
    }),
  ).saveRecordNow,
};
