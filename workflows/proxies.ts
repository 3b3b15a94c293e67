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
  type Attention,
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

/**
 * The activity of a call that is sent at most once failed: the workflow cannot know whether the call was carried out.
 */
export interface LostAnswer {
  kind: "lost";
  /** As a sentence. */
  message: string;
  activityId: string;
}

export type Lost = LostAnswer | DeferredTry;
type Converging = { kind: "converging"; message: string };

/**
 * Activities as the workflows call them: each call begins with its summary, which Temporal's UI shows beside the event:
 * what is done, in the trade's words, so that the history reads as a story.
 */
type Summarised<Activities, Mapped> = {
  [Name in keyof Activities]: Activities[Name] extends (...request: infer Request) => Promise<infer Answer>
    ? (summary: string, ...request: Request) => Promise<Answer | Mapped>
    : never;
};

/** What the workflow gets in place of an activity that ended without an answer. */
type MeaningOf<Mapped> = (error: ActivityFailure) => Mapped | Promise<Mapped>;

/**
 * @param meaningOf an activity that ended without an answer (all its attempts failed, it timed out, or an operator ended
 *   it by hand) gives what this makes of it
 * @param added to each request as it is scheduled
 */
function activitiesWith<Activities, Mapped>(
  options: ActivityOptions,
  meaningOf: MeaningOf<Mapped>,
  added?: () => object,
): Summarised<Activities, Mapped> {
  return summarised(options, added, async (_activityType, schedule) => {
    try {
      return await schedule();
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return meaningOf(error);
    }
  });
}

/**
 * For activities that wait without a bound, or reach nothing but the ledger: see {@link untilAnswered}.
 * @param isForCaller default: none of their failures
 */
function repeatedActivitiesWith<Activities>(
  options: ActivityOptions,
  {
    isForCaller = () => false,
    added,
  }: { isForCaller?: (failure: ActivityFailure) => boolean; added?: () => object } = {},
): Summarised<Activities, never> {
  return summarised(options, added, (activityType, schedule) => untilAnswered(activityType, schedule, isForCaller));
}

function summarised<Activities, Mapped>(
  options: ActivityOptions,
  added: (() => object) | undefined,
  ask: (activityType: string, schedule: () => Promise<unknown>) => Promise<unknown>,
): Summarised<Activities, Mapped> {
  const activities = proxyActivities<Record<string, (...request: object[]) => Promise<unknown>>>(options);
  const proxy: unknown = new Proxy(activities, {
    get(target, name: string): unknown {
      return (summary: string, ...request: object[]) =>
        ask(name, async () => {
          const sent = added ? request.map((one) => ({ ...one, ...added() })) : request;
          const result = await target[name]?.executeWithOptions({ summary: boundedSummary(summary) }, sent);
          return ofItsForm(name, result);
        });
    },
  });
  return proxy as Summarised<Activities, Mapped>;
}

/** Characters of a result that is no answer which an operator is shown. */
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

/** The pause before the next try, in milliseconds: doubles from a second to ten minutes. */
export function growingPauseMs(triesBefore: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(triesBefore, 20), LONGEST_PAUSE_MS);
}

/** An operator who ends an activity by mistake needs to see nothing of it; the third end in a row is no mistake. */
const SHOWN_AFTER = 2;

/** Of a run's list of attentions. */
interface Shown {
  raise(attention: Omit<Attention, "sinceMs">): string;
  clear(key: string): void;
  retriesOf(key: string): number;
}

/** A workflow has a module of its own, and one list of attentions at most. */
let shownIn: Shown | undefined;

/** Where an operator is shown that an activity ends again and again without an answer. */
export function showStalledActivitiesIn(run: Shown): void {
  shownIn = run;
}

/**
 * Schedules an activity that may be repeated freely until it has an answer. No worker ends one of them without: its own
 * retries have no bound. But an operator can fail it, complete it with anything, or give it a deadline or a last attempt.
 * And Temporal ends it as soon as its next attempt would come later than the end of its run: then that run ends as timed
 * out, and can be restarted.
 * @param isForCaller a failure by which the activity says for good that there is no answer
 */
async function untilAnswered<Answer>(
  activityType: string,
  schedule: () => Promise<Answer>,
  isForCaller: (failure: ActivityFailure) => boolean,
): Promise<Answer> {
  let shownAs: string | undefined;
  try {
    for (let ends = 0; ; ends++) {
      try {
        return await schedule();
      } catch (error) {
        if (!(error instanceof ActivityFailure) || isCancellation(error) || isForCaller(error)) throw error;
        if (ends >= SHOWN_AFTER) shownAs = show(activityType, error);
      }
      const retriesBefore = retriesOf(shownAs);
      await condition(() => retriesOf(shownAs) > retriesBefore, growingPauseMs(ends), {
        summary: boundedSummary(`${activityType} ended without an answer: schedule it again after a pause`),
      });
    }
  } finally {
    if (shownAs !== undefined) shownIn?.clear(shownAs);
  }
}

function show(activityType: string, error: Error): string | undefined {
  const message = `The activity ${activityType} ends again and again without an answer, at last with: ${rootMessage(error)}. It is scheduled again at growing intervals.`;
  return shownIn?.raise({ code: "unexpected-answer", subject: activityType, message, resolvedBy: ["retry"] });
}

function retriesOf(key: string | undefined): number {
  return key === undefined ? 0 : (shownIn?.retriesOf(key) ?? 0);
}

/** For activities that tell their caller by a failure what is wrong with the request: those failures have a type. */
function isSaidForGood({ cause, retryState }: ActivityFailure): boolean {
  const isTyped = cause instanceof ApplicationFailure && typeof cause.type === "string" && cause.type !== "";
  return isTyped && retryState === "NON_RETRYABLE_FAILURE";
}

/** For calls that may be repeated. */
function asRefused(error: ActivityFailure): Refusal {
  rethrowCancellation(error);
  const refused = { kind: "refused", attention: "unexpected-answer" } as const;
  const message = `${error.activityType}: ${rootMessage(error)}`;
  // A defect, which no waiting mends.
  if (error.retryState === "NON_RETRYABLE_FAILURE") return { ...refused, message };
  return { ...refused, unserved: true, message: `The service does not serve this call. ${message}` };
}

/** For converging writes: the workflow reads the present state before it tries again. */
function asConverging(error: ActivityFailure): Converging {
  rethrowCancellation(error);
  return { kind: "converging", message: rootMessage(error) };
}

/** For calls that are sent at most once: the claim in the ledger, or an operator, says what became of the call. */
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

function rethrowCancellation(error: ActivityFailure): void {
  if (isCancellation(error)) throw error;
}

/** What went wrong at the bottom, in words. */
function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message;
}

/**
 * Anything else is a defect: it fails the workflow task, which is repeated once the code is fixed, and loses nothing.
 */
export function isFinal(error: Error): boolean {
  return error.name === "ApplicationFailure" || error.name === "ActivityFailure";
}

export function asFailure(error: Error): ApplicationFailure {
  const cause = error.cause instanceof ApplicationFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure)
    return ApplicationFailure.nonRetryable(cause.message, cause.type, ...(cause.details ?? []));
  return ApplicationFailure.nonRetryable(rootMessage(error));
}
