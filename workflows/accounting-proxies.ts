import { ActivityCancellationType, type ActivityOptions, proxyActivities } from "@temporalio/workflow";

import { type AccountingActivities, type AccountingProfile, accountingTaskQueue } from "../src/contract/index.ts";
import { PAUSES_OF_FAILURES } from "./pauses-of-failures.ts";
import { LONGEST_QUEUEING, LONGEST_TRY, MARGIN_MS } from "./proxies.ts";

/** The activities of one accounting connection, one options object for each risk class (architecture, decision 4). */
export function accountingCallsOf({ connection, callTimeoutMs }: AccountingProfile) {
  const options = (priorityKey: number): ActivityOptions => ({
    taskQueue: accountingTaskQueue(connection),
    priority: { priorityKey },
    startToCloseTimeout: callTimeoutMs + MARGIN_MS,
    retry: PAUSES_OF_FAILURES,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  return {
    /** Of synchronisations, which nobody waits for. */
    read: proxyActivities<Pick<AccountingActivities, "keepBillPaymentsPage" | "sampleBillPayments">>({
      ...options(4),
      scheduleToCloseTimeout: LONGEST_TRY,
    }),
    /** A wait for the outside world, without a total bound. */
    wait: proxyActivities<Pick<AccountingActivities, "awaitAccounting">>(options(4)),
    /** At most once, as a stock adjustment: what processing does is not shown, nor that it may be asked for twice. */
    unrepeatableWrite: proxyActivities<Pick<AccountingActivities, "processSyncBatch">>({
      ...options(2),
      scheduleToStartTimeout: LONGEST_QUEUEING,
      retry: { maximumAttempts: 1 },
    }),
  };
}

export type AccountingCalls = ReturnType<typeof accountingCallsOf>;
