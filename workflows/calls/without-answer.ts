import { ActivityFailure, isCancellation, TimeoutFailure } from "@temporalio/workflow";

import type { Refusal } from "../../src/contract/index.ts";
import { rootMessage } from "../sdk/failures.ts";

/** What came of a call that is not to be repeated, and whose activity ended without its answer: nobody here knows. */
export interface LostCall {
  kind: "lost";
  /** As a sentence. */
  message: string;
  activityId: string;
}

/** No worker took the task: nothing was sent. */
export interface NeverSent {
  kind: "deferred";
  sameTry: true;
  message: string;
}

type Asked<Activities, Without> = {
  [Name in keyof Activities]: Activities[Name] extends (request: infer Request) => Promise<infer Answer>
    ? (request: Request) => Promise<Answer | Without>
    : never;
};

type Call = (request: object) => Promise<unknown>;

/** The same activities, each called as `calling` makes its call. */
export function eachCall<Activities extends object>(activities: Activities, calling: (call: Call) => Call): Activities {
  return new Proxy(activities, {
    get(target, name, receiver): unknown {
      const call: unknown = Reflect.get(target, name, receiver);
      return typeof call === "function" ? calling(call as Call) : call;
    },
  });
}

/** The activities, with what it means where one of them ends without an answer. */
export function asked<Activities extends object, Without>(
  activities: Activities,
  without: (error: ActivityFailure) => Without,
): Asked<Activities, Without> {
  return eachCall(activities, (call) => async (request) => {
    try {
      return await call(request);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return without(error);
    }
  }) as Asked<Activities, Without>;
}

/** May be repeated freely: tried to its total bound without an answer, it is shown, not failed. */
export function asRefused(error: ActivityFailure): Refusal {
  unlessCancellation(error);
  return { kind: "refused", attention: "unexpected-answer", message: `${error.activityType}: ${rootMessage(error)}` };
}

/** A converging write that was lost with its worker: what became of it is looked for before another try. */
export function asLookedFor(error: ActivityFailure): { kind: "converging"; message: string } {
  unlessCancellation(error);
  return { kind: "converging", message: rootMessage(error) };
}

/** Not to be repeated: the claim, or a person, tells what became of it. */
export function asLost(error: ActivityFailure): LostCall | NeverSent {
  const message = rootMessage(error);
  if (error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START")
    return { kind: "deferred", sameTry: true, message };
  return {
    kind: "lost",
    message: `${error.activityType} ended without an answer: ${message}.`,
    activityId: error.activityId ?? "",
  };
}

function unlessCancellation(error: ActivityFailure): void {
  if (isCancellation(error)) throw error;
}
