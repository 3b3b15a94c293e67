import { ApplicationFailure, type Client } from "@temporalio/client";

import type { LookAtOutcome } from "../../activities/main/waits.ts";
import { isTold, waitForOutcome } from "../starter/outcome.ts";
import { isFinalError } from "./operation-error.ts";

/**
 * How the activity `awaitFirstOutcome` looks at a workflow.
 * @throws a non-retryable failure, of the error's code, where no later look can find an outcome
 */
export function createLookAtOutcome(client: Client): LookAtOutcome {
  return async ({ workflowId, fingerprint }, waitMs) => {
    try {
      const wait = { workflowId, waitMs, ...(fingerprint !== undefined && { fingerprint }) };
      const outcome = await waitForOutcome(client, wait);
      return { outcome, told: isTold(outcome) };
    } catch (error) {
      if (!isFinalError(error)) throw error;
      throw ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: true, cause: error });
    }
  };
}
