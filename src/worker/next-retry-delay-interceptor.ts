import type { ActivityInterceptorsFactory } from "@temporalio/worker";

import { unforeseen } from "../../activities/failure.ts";

/**
 * Gives an attempt's error that has no pause of its own one: the retry policies leave every pause to the failures
 * (decision 0014).
 */
export const nextRetryDelayInterceptor: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) => {
      try {
        return await next(input);
      } catch (error) {
        throw unforeseen(error, info.attempt, Math.random);
      }
    },
  },
});
