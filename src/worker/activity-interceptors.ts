import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";

import { asRetryable } from "../../activities/failure.ts";
import type { UnderWay } from "../../activities/main/under-way.ts";
import type { ServiceTrouble } from "../contract/index.ts";
import { usingAnswers } from "../http/large-answers.ts";
import { type CallClass, callingAs } from "../quota/index.ts";

/** Tells the rate limiter of which class a worker's calls are: that of its task queue. Activities need not know. */
export function sendingAs(callClass: CallClass): ActivityInterceptorsFactory {
  return () => ({ inbound: { execute: (input, next) => callingAs(callClass, () => next(input)) } });
}

/** A large answer counts as in memory until the activity that asked for it has ended. */
export const usingLargeAnswers: ActivityInterceptorsFactory = () => ({
  inbound: { execute: (input, next) => usingAnswers(() => next(input)) },
});

/** Keeps of a call that the API does not take that its sale is under way, before the attempt ends. */
export function keepingUnderWay(underWay: Pick<UnderWay, "putOff">): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      execute: async (input, next) => {
        const keep = async (answer: unknown): Promise<void> => {
          const trouble = troubleIn(answer);
          if (trouble) await underWay.putOff(trouble, input.args[0]);
        };
        try {
          const result: unknown = await next(input);
          await keep(result);
          return result;
        } catch (error) {
          await keep(error);
          throw error;
        }
      },
    },
  });
}

/**
 * Gives an attempt's error that has no pause of its own one: the retry policies leave every pause to the failures
 * (decision 0014).
 */
export function nextRetryDelayInterceptor(random: () => number): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        try {
          return await next(input);
        } catch (error) {
          throw asRetryable(error, info.attempt, random);
        }
      },
    },
  });
}

/** What an activity says of the API: by a failure to be tried again, or by a result that puts the call off. */
export function troubleIn(answer: unknown): ServiceTrouble | undefined {
  const said: unknown = answer instanceof ApplicationFailure ? answer.details?.[0] : answer;
  if (typeof said !== "object" || said === null || !("trouble" in said)) return undefined;
  return said.trouble as ServiceTrouble | undefined;
}
