import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";

import type { SeenBefore } from "../../activities/classified-call.ts";
import { firstTrouble } from "../contract/index.ts";
import { pendingCallsOf } from "../starter/pending-calls.ts";

/** The answer only says since when something is so: nobody is to wait for it. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * What the last attempt of the call that is made now, or another pending call of its workflow, says of a trouble:
 * Temporal keeps that over any restart of the workers.
 */
export function seenBefore(client: Client): SeenBefore {
  return async ({ kind, service }) => {
    const { workflowExecution } = Context.current().info;
    if (!workflowExecution) return undefined;
    const { workflowId, runId } = workflowExecution;
    try {
      const run = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        client.workflow.getHandle(workflowId, runId).describe(),
      );
      const troubles = pendingCallsOf(client, run).map(({ trouble }) => trouble);
      return firstTrouble(troubles.filter((trouble) => trouble?.kind === kind && trouble.service === service));
    } catch {
      return undefined;
    }
  };
}
