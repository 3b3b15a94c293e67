import type { ActivityInterceptorsFactory } from "@temporalio/worker";

import { asRetryable } from "../../activities/failure.ts";
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
