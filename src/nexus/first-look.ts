import { ApplicationFailure, type Client } from "@temporalio/client";

import { endedInWords } from "../contract/closed-run.ts";
import { isFinalError } from "./operation-error.ts";
import { SaleFailedError } from "../starter/errors.ts";
import { endsWait, waitForOutcome } from "../starter/outcome.ts";
import type { LookAtOutcome } from "../../activities/main/index.ts";

/**
 * How the activity `awaitFirstOutcome` looks at a workflow.
 * @throws a non-retryable failure, of the error's code, where no later look can find an outcome
 */
export function createLookAtOutcome(client: Client): LookAtOutcome {
  return async ({ workflowId, fingerprint }, waitMs) => {
    try {
      const wait = { workflowId, waitMs, ...(fingerprint !== undefined && { fingerprint }) };
      const outcome = await waitForOutcome(client, wait);
      // An operation must not end well whose sale nothing carries on.
      if (outcome.closed)
        throw new SaleFailedError(
          `The workflow ${workflowId} ${endedInWords(outcome.closed)}; nobody carries it on until it is restarted.`,
        );
      return { outcome, endsWait: endsWait(outcome) };
    } catch (error) {
      if (!isFinalError(error)) throw error;
      throw ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: true, cause: error });
    }
  };
}
