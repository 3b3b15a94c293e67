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
  boundedSummary,
  type ClaimedTry,
  type DeferredTry,
  isResultOf,
  type Refusal,
} from "../../src/contract/index.ts";

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

/** What the workflow gets in place of a failed activity. */
export type MeaningOf<Mapped> = (error: ActivityFailure) => Mapped | Promise<Mapped>;

/**
 * @param meaningOf a failed activity (all its attempts failed, or it timed out) gives what this makes of the failure;
 *   default: {@link asUnbounded}
 * @param added to each request as it is scheduled
 * @param unread what the workflow gets in place of a result that is not of its form; default: that result
 */
export function activitiesWith<Activities, Mapped = never>(
  options: ActivityOptions,
  meaningOf: MeaningOf<Mapped> = asUnbounded,
  added?: () => object,
  unread?: (activity: string) => Mapped,
): Summarised<Activities, Mapped> {
  const activities = proxyActivities<Record<string, (...request: object[]) => Promise<unknown>>>(options);
  const proxy: unknown = new Proxy(activities, {
    get(target, name: string): unknown {
      return async (summary: string, ...request: object[]) => {
        const sent = added ? request.map((one) => ({ ...one, ...added() })) : request;
        try {
          const result = await target[name]?.executeWithOptions({ summary: boundedSummary(summary) }, sent);
          return unread && !isResultOf(name, result) ? unread(name) : result;
        } catch (error) {
          if (!(error instanceof ActivityFailure)) throw error;
          return meaningOf(error);
        }
      };
    },
  });
  return proxy as Summarised<Activities, Mapped>;
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

/**
 * For activities without a bound. Temporal gives them no more time than their run has, and fails one as soon as its next
 * attempt would come later than that. Nothing failed but the run's time: the run ends as timed out, and can be
 * restarted.
 */
async function asUnbounded(error: ActivityFailure): Promise<never> {
  if (error.retryState !== "TIMEOUT") throw error;
  await condition(() => false);
  throw error;
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

/**
 * Somebody has completed the activity by hand, with what is no result of it. Its code may still run: what became of the
 * call only its claim tells.
 */
export function unreadAsLost(activity: string): LostAnswer {
  const message = `${activity} was completed with a result that is none of its own, as by hand in Temporal.`;
  return { kind: "lost", message, activityId: "" };
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
 * What became of a try of a call that is sent at most once. Where its activity ended without an answer, its claim says
 * it: one that was never taken was never sent, and the reading closes it, so that a late attempt cannot send it either;
 * a written outcome is the answer; without one it is unknown (docs/architecture.md, "At most once").
 * @param readClaim reads it in the ledger
 */
export async function answerOf<Answer extends Said, Known extends Said>(
  sent: Answer | LostAnswer,
  readClaim: () => Promise<Known>,
): Promise<Answer | Known> {
  if (sent.kind !== "lost") return sent as Answer;
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
