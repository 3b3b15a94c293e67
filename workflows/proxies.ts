import { ActivityCancellationType, type ActivityOptions, type RetryPolicy } from "@temporalio/workflow";

import {
  type AccountingActivities,
  type AccountingProfile,
  accountingTaskQueue,
  complianceBackgroundTaskQueue,
  complianceTaskQueue,
  type ComplianceReads,
  type ComplianceWaits,
  type ConnectionProfile,
  type ConvergingWrites,
  type KeyedWrites,
  type LedgerActivities,
  MAIN_TASK_QUEUE,
  type MainWaits,
  type Preparations,
  type Refusal,
  type UnrepeatableWrites,
} from "../src/contract/index.ts";
import {
  activitiesWith,
  asConverging,
  asLost,
  asRefused,
  type Converging,
  isSaidForGood,
  type Lost,
  type MeaningOf,
  repeatedActivitiesWith,
} from "./calls/activity-failures.ts";
import type { AttentionList } from "./operator/attention-list.ts";

/**
 * A failed attempt names the delay before the next one itself (`nextRetryDelay`, decision 14). So this policy applies
 * only after an attempt whose worker was lost, and does not grow: earlier deferrals are no reason to wait longer.
 */
const RETRY_POLICY = { initialInterval: "5 seconds", backoffCoefficient: 1 } as const satisfies RetryPolicy;

/**
 * Start-to-close is the HTTP timeout plus this. An attempt must outlive its HTTP call by enough to write the outcome
 * into the ledger, even if the database is slow before and after the call.
 */
const MARGIN_MS = 20_000;

/** Schedule-to-start timeout of an at-most-once call. Nothing was sent then, so the workflow schedules it again. */
const LONGEST_IN_QUEUE = "12 hours" as const;

/** Retried without a total bound. */
const MAIN_OPTIONS = {
  taskQueue: MAIN_TASK_QUEUE,
  startToCloseTimeout: "30 seconds",
  retry: RETRY_POLICY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const satisfies ActivityOptions;

/** One HTTP request each. */
function requests(taskQueue: string, callTimeoutMs: number, priority: ActivityOptions["priority"]): ActivityOptions {
  return { ...MAIN_OPTIONS, taskQueue, priority, startToCloseTimeout: callTimeoutMs + MARGIN_MS };
}

/**
 * If the first attempt's answer was lost, a second one would move the stock, or issue the document, twice. So: one
 * attempt and no heartbeat. No schedule-to-close timeout either, since when it fires nobody can tell whether the
 * attempt had started; schedule-to-start and start-to-close each can.
 */
function atMostOnce(request: ActivityOptions): ActivityOptions {
  return { ...request, scheduleToStartTimeout: LONGEST_IN_QUEUE, retry: { maximumAttempts: 1 } };
}

/** Activities that call no API: validating the input, finding the connection, composing the request. */
export const main = repeatedActivitiesWith<Preparations>(
  {
    ...MAIN_OPTIONS,
    // A sale waits for these first, and each takes milliseconds.
    priority: { priorityKey: 1 },
    startToCloseTimeout: "10 seconds",
  },
  { isForCaller: isSaidForGood },
);

export const mainWaits = repeatedActivitiesWith<MainWaits>(MAIN_OPTIONS, { isForCaller: isSaidForGood });

/** Reads large parts of the ledger. */
export const ledgerAtLength = repeatedActivitiesWith<Pick<LedgerActivities, "reconcilePayments">>({
  ...MAIN_OPTIONS,
  startToCloseTimeout: "15 minutes",
});

/** Reads and writes the ledger. Retried until the database answers, without a total bound. */
export const ledger = repeatedActivitiesWith<LedgerActivities>(MAIN_OPTIONS);

/**
 * For converging writes. An attempt whose worker was lost ends the activity, so that the workflow reads what became of
 * the write before it tries again.
 */
const FAIL_WHEN_WORKER_IS_LOST = { ...RETRY_POLICY, nonRetryableErrorTypes: ["TemporalTimeout:StartToClose"] };

export type Calls = ReturnType<typeof callsOf>;

/**
 * The API's activities of one application, one options object for each risk class (docs/architecture.md, "Risk
 * classes"). From here on the run also waits through them for what the service does not take.
 */
export function callsOf(run: AttentionList, profile: ConnectionProfile) {
  const { connection, application, businessId, businessWeight: fairnessWeight, timings } = profile;
  const weight = fairnessWeight === undefined ? {} : { fairnessWeight };
  const fair = profile.keyReach === "organisation" && businessId ? { fairnessKey: businessId, ...weight } : {};
  const { callTimeoutMs, unservedAfterMs: scheduleToCloseTimeout } = timings;
  const interactive = (priorityKey: number): ActivityOptions =>
    requests(complianceTaskQueue(application), callTimeoutMs, { priorityKey, ...fair });
  const background = (priorityKey: number): ActivityOptions =>
    requests(complianceBackgroundTaskQueue(application), callTimeoutMs, { priorityKey, ...fair });
  // A request built earlier would not show a `retry` that came meanwhile, which lets the call reach the API at once. A
  // replay does not compare an activity's input.
  const added = () => ({ retriedAtMs: run.retriedAtMs });
  const activities = <Activities, Mapped>(options: ActivityOptions, meaningOf: MeaningOf<Mapped>) =>
    activitiesWith<Activities, Mapped>(options, meaningOf, added);
  const repeatable = (queue: ActivityOptions) => {
    const options = { ...queue, scheduleToCloseTimeout };
    const convergingOptions = { ...options, retry: FAIL_WHEN_WORKER_IS_LOST };
    return {
      /** Retried freely. */
      read: activities<ComplianceReads, Refusal>(options, asRefused),
      /** Repeated only after the present state has been read. */
      convergingWrite: activities<ConvergingWrites, Converging>(convergingOptions, asConverging),
    };
  };
  const wait = repeatedActivitiesWith<ComplianceWaits>(background(4), { added });
  run.awaitService = (summary, tried) => wait.awaitService(summary, { connection, businessId, ...tried });
  return {
    ...repeatable(interactive(2)),
    /** Calls of catalogues and synchronisations, after the polls of sales in flight: a caller waits for those. */
    background: repeatable(background(5)),
    /**
     * Waits for the outside world: each attempt reads once, and fails until what it waits for is there. No total bound.
     */
    wait,
    /**
     * Retried under one Idempotency-Key for as long as the service remembers the key. The activity itself keeps that
     * bound: the key's life begins with the first attempt that may have been sent, not when the activity is scheduled.
     */
    keyedWrite: activities<KeyedWrites, Lost>(interactive(1), asLost),
    unrepeatableWrite: activities<UnrepeatableWrites, Lost>(atMostOnce(interactive(2)), asLost),
  };
}

/** The same for one accounting connection. */
export function accountingCallsOf(run: AttentionList, profile: AccountingProfile) {
  const { connection, callTimeoutMs, unservedAfterMs } = profile;
  const options = (priorityKey: number): ActivityOptions =>
    requests(accountingTaskQueue(connection), callTimeoutMs, { priorityKey });
  const wait = repeatedActivitiesWith<Pick<AccountingActivities, "awaitAccounting">>(options(4));
  run.awaitService = (summary, tried) => wait.awaitAccounting(summary, { connection, ...tried });
  return {
    /** For synchronisations, which nobody waits for. */
    read: activitiesWith<Pick<AccountingActivities, "keepBillPaymentsPage" | "sampleBillPayments">, Refusal>(
      { ...options(4), scheduleToCloseTimeout: unservedAfterMs },
      asRefused,
    ),
    /** At most once: the API does not say what processing does, nor that it may be repeated. */
    unrepeatableWrite: activitiesWith<Pick<AccountingActivities, "processSyncBatch">, Lost>(
      atMostOnce(options(2)),
      asLost,
    ),
  };
}

export type AccountingCalls = ReturnType<typeof accountingCallsOf>;
