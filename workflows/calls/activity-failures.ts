import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  condition,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
  uuid4,
} from "@temporalio/workflow";

import {
  type Attention,
  type CallUnderWay,
  boundedSummary,
  type ClaimedTry,
  type DeferredTry,
  type Refusal,
} from "../../src/contract/index.ts";
import { type Form, RESULT_FORMS } from "../../src/contract/result-forms.ts";
import { whyUnreadable } from "../sdk/interceptors.ts";

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
export type Converging = { kind: "converging"; message: string };

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
export type MeaningOf<Mapped> = (error: ActivityFailure) => Mapped | Promise<Mapped>;

/**
 * @param meaningOf an activity that ended without an answer (all its attempts failed, it timed out, or an operator ended
 *   it by hand) gives what this makes of it
 * @param added to each request as it is scheduled
 */
export function activitiesWith<Activities, Mapped>(
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
export function repeatedActivitiesWith<Activities>(
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
export async function untilAnswered<Answer>(
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
export function isSaidForGood({ cause, retryState }: ActivityFailure): boolean {
  const isTyped = cause instanceof ApplicationFailure && typeof cause.type === "string" && cause.type !== "";
  return isTyped && retryState === "NON_RETRYABLE_FAILURE";
}

/** For calls that may be repeated. */
export function asRefused(error: ActivityFailure): Refusal {
  rethrowCancellation(error);
  const refused = { kind: "refused", attention: "unexpected-answer" } as const;
  const message = `${error.activityType}: ${rootMessage(error)}`;
  // A defect, which no waiting mends.
  if (error.retryState === "NON_RETRYABLE_FAILURE") return { ...refused, message };
  return { ...refused, unserved: true, message: `The service does not serve this call. ${message}` };
}

/** For converging writes: the workflow reads the present state before it tries again. */
export function asConverging(error: ActivityFailure): Converging {
  rethrowCancellation(error);
  return { kind: "converging", message: rootMessage(error) };
}

/** For calls that are sent at most once: the claim in the ledger, or an operator, says what became of the call. */
export function asLost(error: ActivityFailure): Lost {
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
export function rootMessage(error: Error): string {
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

/**
 * What became of a try of a call that is sent at most once. Where its activity ended without an answer, or found another
 * execution at it, its claim says it once nobody is at it any more: one that was never taken was never sent, and the reading closes it, so that a late attempt cannot send it either;
 * a written outcome is the answer; without one it is unknown (docs/architecture.md, "At most once").
 * @param readClaim reads it in the ledger
 */
export async function answerOf<Answer extends Said, Known extends Said>(
  sent: Answer | LostAnswer | CallUnderWay,
  readClaim: () => Promise<Known>,
): Promise<Answer | Known> {
  if (sent.kind !== "lost" && sent.kind !== "under-way") return sent as Answer;
  const found = await readClaim();
  return found.kind === "unknown" ? { ...found, message: `${sent.message} ${found.message}` } : found;
}

type Said = { kind: string; message?: string };

/**
 * Numbers the tries of one call that is sent at most once. Each try has a generation, under which its activity takes
 * the claim in the ledger. A new generation begins only once it is known that the one before was not applied.
 */
export class ClaimGenerations {
  /** What the next activity claims. */
  current: ClaimedTry = { generation: 1, token: uuid4() };

  /** For a try that was put off. Where it is the same one that is asked for again, its claim may be held for nobody. */
  putOff({ sameTry, execution }: DeferredTry): void {
    if (!sameTry) this.next();
    else if (execution !== undefined)
      this.current = { ...this.current, unsent: [...(this.current.unsent ?? []), execution] };
  }

  /** @param notApplied known not to have been applied; default: the current one. Another run may have got further. */
  next(notApplied = 0): void {
    this.current = { generation: Math.max(notApplied, this.current.generation) + 1, token: uuid4() };
  }
}
