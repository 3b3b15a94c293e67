import {
  ActivityCancellationType,
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  condition,
  isCancellation,
  proxyActivities,
  type RetryPolicy,
  TimeoutFailure,
} from "@temporalio/workflow";

import {
  type AccountingActivities,
  type AccountingProfile,
  accountingTaskQueue,
  boundedSummary,
  complianceBackgroundTaskQueue,
  type ComplianceReads,
  complianceTaskQueue,
  type ComplianceWaits,
  type ConnectionProfile,
  type ConvergingWrites,
  type DeferredTry,
  type KeyedWrites,
  type LedgerActivities,
  MAIN_TASK_QUEUE,
  type MainWaits,
  type Preparations,
  type Refusal,
  type UnrepeatableWrites,
} from "../src/contract/index.ts";
import { type Form, RESULT_FORMS } from "../src/contract/result-forms.ts";
import type { AttentionList } from "./operator/attention-list.ts";
import { whyUnreadable } from "./sdk/interceptors.ts";

/**
 * Only after an attempt whose worker was lost: a failed one names its delay itself (decision 14). It does not grow:
 * earlier deferrals are no reason to wait longer.
 */
const RETRY_POLICY = { initialInterval: "5 seconds", backoffCoefficient: 1 } as const satisfies RetryPolicy;

/** Start-to-close is the HTTP timeout plus this: enough to write the outcome into a slow ledger. */
const MARGIN_MS = 20_000;

/** Schedule-to-start timeout of an at-most-once call. Nothing was sent then, so the workflow schedules it again. */
const LONGEST_IN_QUEUE = "12 hours" as const;

const MAIN_OPTIONS = {
  taskQueue: MAIN_TASK_QUEUE,
  startToCloseTimeout: "30 seconds",
  retry: RETRY_POLICY,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const satisfies ActivityOptions;

function requests(taskQueue: string, callTimeoutMs: number, priority: ActivityOptions["priority"]): ActivityOptions {
  return { ...MAIN_OPTIONS, taskQueue, priority, startToCloseTimeout: callTimeoutMs + MARGIN_MS };
}

/**
 * If the first attempt's answer was lost, a second one would move the stock, or issue the document, twice. So: one
 * attempt and no heartbeat. No schedule-to-close timeout either: when it fires nobody can tell whether the attempt had
 * started.
 */
function atMostOnce(request: ActivityOptions): ActivityOptions {
  return { ...request, scheduleToStartTimeout: LONGEST_IN_QUEUE, retry: { maximumAttempts: 1 } };
}

export const main = activities<Preparations>(
  {
    ...MAIN_OPTIONS,
    // A sale waits for these first, and each takes milliseconds.
    priority: { priorityKey: 1 },
    startToCloseTimeout: "10 seconds",
  },
  untilSaidForGood,
);

export const mainWaits = activities<MainWaits>(MAIN_OPTIONS, untilSaidForGood);

export const ledgerAtLength = activities<Pick<LedgerActivities, "reconcilePayments">>({
  ...MAIN_OPTIONS,
  startToCloseTimeout: "15 minutes",
});

/** Retried until the database answers, without a total bound. */
export const ledger = activities<LedgerActivities>(MAIN_OPTIONS);

/** An attempt whose worker was lost ends the activity, so that the workflow reads what became of the write. */
const FAIL_WHEN_WORKER_IS_LOST = { ...RETRY_POLICY, nonRetryableErrorTypes: ["TemporalTimeout:StartToClose"] };

export type Calls = ReturnType<typeof callsOf>;

/**
 * One options object for each risk class (docs/architecture.md, "Risk classes"). From here on the run also waits
 * through them for what the service does not take.
 */
export function callsOf(run: AttentionList, profile: ConnectionProfile) {
  const { connection, application, businessId, timings } = profile;
  const fair = profile.keyReach === "organisation" && businessId ? { fairnessKey: businessId } : {};
  const { callTimeoutMs, unservedAfterMs: scheduleToCloseTimeout } = timings;
  const interactive = (priorityKey: number): ActivityOptions =>
    requests(complianceTaskQueue(application), callTimeoutMs, { priorityKey, ...fair });
  const background = (priorityKey: number): ActivityOptions =>
    requests(complianceBackgroundTaskQueue(application), callTimeoutMs, { priorityKey, ...fair });
  // Asked as it is scheduled: a `retry` that came meanwhile lets the call reach the API at once. A replay does not
  // compare an activity's input.
  const added = () => ({ retriedAtMs: run.retriedAtMs });
  const repeatable = (queue: ActivityOptions) => {
    const options = { ...queue, scheduleToCloseTimeout };
    const convergingOptions = { ...options, retry: FAIL_WHEN_WORKER_IS_LOST };
    return {
      /** Retried freely. */
      read: activities<ComplianceReads, Refusal>(options, orElse(asRefused), added),
      /** Repeated only after the present state has been read. */
      convergingWrite: activities<ConvergingWrites, Converging>(convergingOptions, orElse(asConverging), added),
    };
  };
  const wait = activities<ComplianceWaits>(background(4), untilAnswered, added);
  run.awaitService = (summary, tried) => wait.awaitService(summary, { connection, businessId, ...tried });
  return {
    ...repeatable(interactive(2)),
    /** Calls of catalogues and synchronisations, after the polls of sales in flight: a caller waits for those. */
    background: repeatable(background(5)),
    /** No total bound. */
    wait,
    /**
     * Retried under one Idempotency-Key for as long as the service remembers it, a bound that the activity keeps: the
     * key's life begins with the first attempt that may have been sent.
     */
    keyedWrite: activities<KeyedWrites, Lost>(interactive(1), orElse(asLost), added),
    unrepeatableWrite: activities<UnrepeatableWrites, Lost>(atMostOnce(interactive(2)), orElse(asLost), added),
  };
}

export function accountingCallsOf(run: AttentionList, profile: AccountingProfile) {
  const { connection, callTimeoutMs, unservedAfterMs } = profile;
  const options = (priorityKey: number): ActivityOptions =>
    requests(accountingTaskQueue(connection), callTimeoutMs, { priorityKey });
  const wait = activities<Pick<AccountingActivities, "awaitAccounting">>(options(4));
  run.awaitService = (summary, tried) => wait.awaitAccounting(summary, { connection, ...tried });
  return {
    read: activities<Pick<AccountingActivities, "keepBillPaymentsPage" | "sampleBillPayments">, Refusal>(
      { ...options(4), scheduleToCloseTimeout: unservedAfterMs },
      orElse(asRefused),
    ),
    /** At most once: the API does not say what processing does, nor that it may be repeated. */
    unrepeatableWrite: activities<Pick<AccountingActivities, "processSyncBatch">, Lost>(
      atMostOnce(options(2)),
      orElse(asLost),
    ),
  };
}

export type AccountingCalls = ReturnType<typeof accountingCallsOf>;

/** The workflow cannot know whether a call was carried out that is sent at most once. */
export interface LostAnswer {
  kind: "lost";
  message: string;
  activityId: string;
}

export type Lost = LostAnswer | DeferredTry;
type Converging = { kind: "converging"; message: string };

/** Each call begins with its summary, which Temporal's UI shows beside the event. */
type Summarised<Activities, Mapped> = {
  [Name in keyof Activities]: Activities[Name] extends (...request: infer Request) => Promise<infer Answer>
    ? (summary: string, ...request: Request) => Promise<Answer | Mapped>
    : never;
};

/** How an activity is asked for: what becomes of one that ends without an answer. */
type Ask = (activityType: string, schedule: () => Promise<unknown>) => Promise<unknown>;

/** @param added to each request as it is scheduled */
function activities<Activities, Mapped = never>(
  options: ActivityOptions,
  ask: Ask = untilAnswered,
  added: () => object = () => ({}),
): Summarised<Activities, Mapped> {
  const scheduled = proxyActivities<Record<string, (...request: object[]) => Promise<unknown>>>(options);
  const proxy: unknown = new Proxy(scheduled, {
    get(target, name: string): unknown {
      return (summary: string, ...request: object[]) =>
        ask(name, async () => {
          const sent = request.map((one) => ({ ...one, ...added() }));
          const result = await target[name]?.executeWithOptions({ summary: boundedSummary(summary) }, sent);
          return ofItsForm(name, result);
        });
    },
  });
  return proxy as Summarised<Activities, Mapped>;
}

const MOST_SHOWN = 200;

/** @throws ActivityFailure, as if the activity had ended without an answer */
function ofItsForm(activityType: string, result: unknown): unknown {
  const forms: Readonly<Record<string, Form>> = RESULT_FORMS;
  const unreadable = whyUnreadable("activity's result", result);
  if (unreadable === undefined && forms[activityType]?.(result) !== false) return result;
  const shown = (JSON.stringify(result) ?? "nothing").slice(0, MOST_SHOWN);
  // Without a type, by which an activity says what it means.
  const message = unreadable ?? `it was completed with what is no answer: ${shown}`;
  const cause = ApplicationFailure.create({ message, nonRetryable: true });
  throw new ActivityFailure(undefined, activityType, undefined, "NON_RETRYABLE_FAILURE", undefined, cause);
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** In milliseconds: doubles from a second to ten minutes. */
export function growingPauseMs(triesBefore: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(triesBefore, 20), LONGEST_PAUSE_MS);
}

/** An operator who ends an activity by mistake needs to see nothing of it; the third end in a row is no mistake. */
const SHOWN_AFTER = 2;

/** A workflow has a module of its own, and one list of attentions at most. */
let shownIn: Pick<AttentionList, "raise" | "clear" | "retriesOf"> | undefined;

/** How many calls each attention stands for: it is shown until the last of them has its answer. */
const stalledCalls = new Map<string, number>();

export function showStalledActivitiesIn(run: AttentionList): void {
  shownIn = run;
}

/**
 * Schedules an activity that may be repeated freely until it has an answer. Its own retries have no bound; but an
 * operator can fail it, complete it with anything, or give it a deadline, and Temporal ends it if its next attempt
 * would come after the end of its run.
 * @param isForCaller tells of a failure whether it is the answer
 */
async function untilAnswered(
  activityType: string,
  schedule: () => Promise<unknown>,
  isForCaller: (failure: ActivityFailure) => boolean = () => false,
): Promise<unknown> {
  let shownAs: string | undefined;
  const retries = (): number => (shownAs === undefined ? 0 : (shownIn?.retriesOf(shownAs) ?? 0));
  try {
    for (let ends = 0; ; ends++) {
      try {
        return await schedule();
      } catch (error) {
        if (!(error instanceof ActivityFailure) || isCancellation(error) || isForCaller(error)) throw error;
        const message = `The activity ${activityType} ends again and again without an answer, at last with: ${rootMessage(error)}. It is scheduled again at growing intervals.`;
        const attention = { code: "unexpected-answer", subject: activityType, message, resolvedBy: ["retry"] } as const;
        if (ends >= SHOWN_AFTER) {
          const isNew = shownAs === undefined;
          shownAs = shownIn?.raise(attention);
          if (isNew && shownAs !== undefined) stalledCalls.set(shownAs, (stalledCalls.get(shownAs) ?? 0) + 1);
        }
      }
      const retriesBefore = retries();
      await condition(() => retries() > retriesBefore, growingPauseMs(ends), {
        summary: boundedSummary(`${activityType} ended without an answer: schedule it again after a pause`),
      });
    }
  } finally {
    if (shownAs !== undefined) {
      const others = (stalledCalls.get(shownAs) ?? 1) - 1;
      stalledCalls.set(shownAs, others);
      if (others === 0) shownIn?.clear(shownAs);
    }
  }
}

/** The same of one that may say for good, by a failure with a type, that there is no answer. */
function untilSaidForGood(activityType: string, schedule: () => Promise<unknown>): Promise<unknown> {
  return untilAnswered(activityType, schedule, ({ cause, retryState }) => {
    const isTyped = cause instanceof ApplicationFailure && typeof cause.type === "string" && cause.type !== "";
    return isTyped && retryState === "NON_RETRYABLE_FAILURE";
  });
}

function orElse<Mapped>(meaningOf: (error: ActivityFailure) => Mapped): Ask {
  return async (_activityType, schedule) => {
    try {
      return await schedule();
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return meaningOf(error);
    }
  };
}

function asRefused(error: ActivityFailure): Refusal {
  if (isCancellation(error)) throw error;
  const refused = { kind: "refused", attention: "unexpected-answer" } as const;
  const message = `${error.activityType}: ${rootMessage(error)}`;
  // A defect, which no waiting mends.
  if (error.retryState === "NON_RETRYABLE_FAILURE") return { ...refused, message };
  return { ...refused, unserved: true, message: `The service does not serve this call. ${message}` };
}

function asConverging(error: ActivityFailure): Converging {
  if (isCancellation(error)) throw error;
  return { kind: "converging", message: rootMessage(error) };
}

function asLost(error: ActivityFailure): Lost {
  const message = rootMessage(error);
  // No worker started it, so nothing was sent.
  if (error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START")
    return { kind: "deferred", sameTry: true, message };
  return {
    kind: "lost",
    message: `${error.activityType} ended without an answer: ${message}.`,
    activityId: error.activityId ?? "",
  };
}

function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message;
}

/** Anything else is a defect: it fails the workflow task, which is repeated once the code is fixed. */
export function isFinal(error: Error): boolean {
  return error.name === "ApplicationFailure" || error.name === "ActivityFailure";
}

export function asFailure(error: Error): ApplicationFailure {
  const cause = error.cause instanceof ApplicationFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure)
    return ApplicationFailure.nonRetryable(cause.message, cause.type, ...(cause.details ?? []));
  return ApplicationFailure.nonRetryable(rootMessage(error));
}
