import { ActivityFailure, isCancellation, TimeoutFailure } from "@temporalio/workflow";

import type { Refusal } from "../../src/contract/index.ts";
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

/** The activity was never started by a worker, so nothing was sent. Its try is not used up. */
export interface NotSent {
  kind: "deferred";
  sameTry: true;
  message: string;
}

type WithFailuresMapped<Activities, Mapped> = {
  [Name in keyof Activities]: Activities[Name] extends (request: infer Request) => Promise<infer Answer>
    ? (request: Request) => Promise<Answer | Mapped>
    : never;
};

type Call = (request: object) => Promise<unknown>;

/** The same activities, with each call passed through `wrap`. */
export function wrapActivities<Activities extends object>(
  activities: Activities,
  wrap: (call: Call) => Call,
): Activities {
  return new Proxy(activities, {
    get(target, name, receiver): unknown {
      const call: unknown = Reflect.get(target, name, receiver);
      return typeof call === "function" ? wrap(call as Call) : call;
    },
  });
}

/**
 * The same activities, where a failed one (all its attempts failed, or it timed out) gives what `meaningOf` makes of
 * the failure, in place of throwing it.
 */
export function mapActivityFailures<Activities extends object, Mapped>(
  activities: Activities,
  meaningOf: (error: ActivityFailure) => Mapped,
): WithFailuresMapped<Activities, Mapped> {
  return wrapActivities(activities, (call) => async (request) => {
    try {
      return await call(request);
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
export function asLost(error: ActivityFailure): LostAnswer | NotSent {
  const message = rootMessage(error);
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
