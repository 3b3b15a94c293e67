import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
  type RetryPolicy,
} from "@temporalio/workflow";

import {
  type AccountingActivities,
  type AccountingProfile,
  accountingTaskQueue,
  type CallRoute,
  complianceBackgroundTaskQueue,
  complianceTaskQueue,
  type ComplianceActivities,
  type LedgerActivities,
  MAIN_TASK_QUEUE,
  type MainActivities,
} from "../src/contract/index.ts";
import { asked, asLookedFor, asLost, asRefused, eachCall } from "./calls/without-answer.ts";

/**
 * Every pause comes with its failure (decision 0014). Only an attempt that was lost with its worker brings none, and it
 * is no reason to wait the longer, however often the service had put the call off before.
 */
const RETRY_POLICY = {
  initialInterval: "5 seconds",
  backoffCoefficient: 1,
} as const satisfies RetryPolicy;

/**
 * Between the HTTP call's own timeout and the attempt's: the activity must always live to write down and to say what
 * became of its call, with the database slow at both ends.
 */
const MARGIN_MS = 20_000;

/** How long a task may wait for a worker before it is put into the queue anew: nothing of it was sent. */
const LONGEST_QUEUEING = "12 hours" as const;

/** A total bound for calls that may be repeated freely. What is not answered by then is shown to a person. */
const LONGEST_TRY = "24 hours";

/** Before the connection is known: validation, look-ups, composing. No API call. */
export const main = proxyActivities<
  Pick<
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
    | "findSale"
  >
>({
  taskQueue: MAIN_TASK_QUEUE,
  // A sale can do nothing before it, and it is over in milliseconds.
  priority: { priorityKey: 1 },
  startToCloseTimeout: "10 seconds",
  retry: RETRY_POLICY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

export const mainWaits = proxyActivities<Pick<MainActivities, "awaitCreditNoteRun" | "awaitBranch">>({
  taskQueue: MAIN_TASK_QUEUE,
  startToCloseTimeout: "30 seconds",
  retry: RETRY_POLICY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Reads much of the ledger. */
export const ledgerAtLength = proxyActivities<Pick<LedgerActivities, "reconcilePayments">>({
  taskQueue: MAIN_TASK_QUEUE,
  startToCloseTimeout: "15 minutes",
  retry: RETRY_POLICY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Reads and writes the ledger. Tried again until the database is there, however long that takes. */
export const ledger = proxyActivities<LedgerActivities>({
  taskQueue: MAIN_TASK_QUEUE,
  startToCloseTimeout: "30 seconds",
  retry: RETRY_POLICY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** An attempt of a converging write that was lost with its worker must come back as a failure. */
const LOST_WITH_ITS_WORKER = { ...RETRY_POLICY, nonRetryableErrorTypes: ["TemporalTimeout:StartToClose"] };

export type Calls = ReturnType<typeof callsOf>;

/**
 * The API's activities of one application, one options object for each risk class (docs/architecture.md, "Risk
 * classes").
 * @param retriedAtMs when a person last asked to try again: told with each call as it is made
 */
export function callsOf(route: CallRoute, retriedAtMs: () => number | undefined) {
  const { businessWeight: fairnessWeight } = route;
  const weight = fairnessWeight === undefined ? {} : { fairnessWeight };
  const fair =
    route.keyReach === "organisation" && route.businessId ? { fairnessKey: route.businessId, ...weight } : {};
  const interactive = (priorityKey: number): ActivityOptions => ({
    taskQueue: complianceTaskQueue(route.application),
    priority: { priorityKey, ...fair },
    startToCloseTimeout: route.timings.callTimeoutMs + MARGIN_MS,
    retry: RETRY_POLICY,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  const background: ActivityOptions = {
    ...interactive(4),
    taskQueue: complianceBackgroundTaskQueue(route.application),
  };
  const atMostOnce = (longestQueueing: "12 hours" | number): ActivityOptions => ({
    ...interactive(2),
    scheduleToStartTimeout: longestQueueing,
    retry: { maximumAttempts: 1 },
  });
  const told = <Names extends keyof ComplianceActivities>(options: ActivityOptions) =>
    telling(proxyActivities<Pick<ComplianceActivities, Names>>(options), retriedAtMs);
  /** Behind the polls of sales in flight, which somebody waits for. */
  const nobodyWaits: ActivityOptions = {
    ...background,
    priority: { ...background.priority, priorityKey: 5 },
    scheduleToCloseTimeout: LONGEST_TRY,
  };
  return {
    /** Of catalogues and synchronisations. */
    background: {
      read: asked(
        told<
          | "pullPurchases"
          | "keepPurchasesPage"
          | "reconcileDocument"
          | "planRegistrations"
          | "readItems"
          | "readBranch"
          | "keepLines"
        >(nobodyWaits),
        asRefused,
      ),
      convergingWrite: asked(told<"registerItem">({ ...nobodyWaits, retry: LOST_WITH_ITS_WORKER }), asLookedFor),
    },
    /** Repeated freely; the pauses come from the activity. */
    read: asked(
      told<"readItems" | "readBranch" | "readDocument">({ ...interactive(2), scheduleToCloseTimeout: LONGEST_TRY }),
      asRefused,
    ),
    /**
     * A wait for the outside world: each try is one look, and it has no total bound, since nobody knows how long it
     * takes.
     */
    wait: told<"awaitItems" | "awaitDocument" | "awaitService">(background),
    /**
     * Safe to repeat under its Idempotency-Key, for as long as the service remembers the key. The activity keeps that
     * bound itself, since the life begins with the first attempt that may have left, and waits before it count for
     * nothing.
     */
    keyedWrite: asked(told<"createSale" | "createCreditNote">(interactive(1)), asLost),
    /**
     * An attempt that was lost with its worker is looked after before it is repeated, so it must come back as a
     * failure.
     */
    convergingWrite: asked(
      told<"registerItem" | "retryDocument">({
        ...interactive(2),
        scheduleToCloseTimeout: LONGEST_TRY,
        retry: LOST_WITH_ITS_WORKER,
      }),
      asLookedFor,
    ),
    /**
     * At most once: a second attempt would move the stock, or issue the document, twice if the first one's answer was
     * lost. One attempt, no heartbeat, and no scheduleToCloseTimeout, which cannot tell a queued task from a running
     * one.
     */
    unrepeatableWrite: asked(told<"createSale" | "adjustStock">(atMostOnce(LONGEST_QUEUEING)), asLost),
    /**
     * For a movement that takes its run's record along, which must not queue with it for hours: it comes back unsent.
     */
    unrepeatableWriteSoon: asked(told<"adjustStock">(atMostOnce(route.timings.callTimeoutMs)), asLost),
  };
}

/**
 * Here and not where a request is made up: one that was made before a person's `retry` would not reach the API at once.
 * An activity's input is no part of what a replay checks.
 */
function telling<Activities extends object>(activities: Activities, retriedAtMs: () => number | undefined): Activities {
  return eachCall(activities, (call) => (request) => call({ ...request, retriedAtMs: retriedAtMs() }));
}

/**
 * The activities of one accounting connection, one options object for each risk class (docs/architecture.md, "Risk
 * classes").
 */
export function accountingCallsOf({ connection, callTimeoutMs }: AccountingProfile) {
  const options = (priorityKey: number): ActivityOptions => ({
    taskQueue: accountingTaskQueue(connection),
    priority: { priorityKey },
    startToCloseTimeout: callTimeoutMs + MARGIN_MS,
    retry: RETRY_POLICY,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  return {
    /** Of synchronisations, which nobody waits for. */
    read: asked(
      proxyActivities<Pick<AccountingActivities, "keepBillPaymentsPage" | "sampleBillPayments">>({
        ...options(4),
        scheduleToCloseTimeout: LONGEST_TRY,
      }),
      asRefused,
    ),
    /** A wait for the outside world, without a total bound. */
    wait: proxyActivities<Pick<AccountingActivities, "awaitAccounting">>(options(4)),
    /** At most once, as a stock adjustment: what processing does is not shown, nor that it may be asked for twice. */
    unrepeatableWrite: asked(
      proxyActivities<Pick<AccountingActivities, "processSyncBatch">>({
        ...options(2),
        scheduleToStartTimeout: LONGEST_QUEUEING,
        retry: { maximumAttempts: 1 },
      }),
      asLost,
    ),
  };
}

export type AccountingCalls = ReturnType<typeof accountingCallsOf>;
