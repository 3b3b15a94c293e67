import { ActivityFailure, type ActivityInterfaceFor, isCancellation, TimeoutFailure } from "@temporalio/workflow";

import { boundedSummary, type DeferredTry, type Refusal } from "../../src/contract/index.ts";
import { rootMessage } from "../sdk/failures.ts";

/**
 * The activity of a call that is sent at most once failed: the workflow cannot know whether the call was carried out.
 */
export interface LostAnswer {
  kind: "lost";
  /** As a sentence. */
  message: string;
  activityId: string;
}

/**
 * Activities as the workflows call them: each call begins with its summary, which Temporal's UI shows beside the event:
 * what is done, in the trade's words, so that the history reads as a story.
 */
export type Summarised<Activities> = {
  [Name in keyof Activities]: Activities[Name] extends (...request: infer Request) => infer Answer
    ? (summary: string, ...request: Request) => Answer
    : never;
};

type WithFailuresMapped<Activities, Mapped> = {
  [Name in keyof Activities]: Activities[Name] extends (...call: infer Call) => Promise<infer Answer>
    ? (...call: Call) => Promise<Answer | Mapped>
    : never;
};

type Call = (summary: string, ...request: object[]) => Promise<unknown>;
type ProxiedActivity = ActivityInterfaceFor<Record<string, (...request: object[]) => Promise<unknown>>>[string];

/** The same activities, with each one passed through `wrap`. */
export function wrapActivities<Activities extends object, Activity = Call>(
  activities: Activities,
  wrap: (activity: Activity) => Call,
): Activities {
  return new Proxy(activities, {
    get(target, name, receiver): unknown {
      const activity: unknown = Reflect.get(target, name, receiver);
      return typeof activity === "function" ? wrap(activity as Activity) : activity;
    },
  });
}

/** @param activities as `proxyActivities` gives them */
export function withSummaries<Activities>(activities: ActivityInterfaceFor<Activities>): Summarised<Activities> {
  const wrapped = wrapActivities<object, ProxiedActivity>(
    activities,
    (activity) =>
      (summary, ...request) =>
        activity.executeWithOptions({ summary: boundedSummary(summary) }, request),
  );
  return wrapped as Summarised<Activities>;
}

/**
 * The same activities, where a failed one (all its attempts failed, or it timed out) gives what `meaningOf` makes of
 * the failure, in place of throwing it.
 */
export function mapActivityFailures<Activities extends object, Mapped>(
  activities: Activities,
  meaningOf: (error: ActivityFailure) => Mapped,
): WithFailuresMapped<Activities, Mapped> {
  return wrapActivities(activities, (call) => async (...summaryAndRequest) => {
    try {
      return await call(...summaryAndRequest);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return meaningOf(error);
    }
  }) as WithFailuresMapped<Activities, Mapped>;
}

/**
 * For calls that may be repeated: an operator is shown that the call has had no answer for its schedule-to-close time.
 */
export function asRefused(error: ActivityFailure): Refusal {
  rethrowCancellation(error);
  return { kind: "refused", attention: "unexpected-answer", message: `${error.activityType}: ${rootMessage(error)}` };
}

/** For converging writes: the workflow reads the present state before it tries again. */
export function asConverging(error: ActivityFailure): { kind: "converging"; message: string } {
  rethrowCancellation(error);
  return { kind: "converging", message: rootMessage(error) };
}

/** For calls that are sent at most once: the claim in the ledger, or an operator, says what became of the call. */
export function asLost(error: ActivityFailure): LostAnswer | DeferredTry {
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
