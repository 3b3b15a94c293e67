import type { Client } from "@temporalio/client";
import { Worker } from "@temporalio/worker";

/**
 * Replays every history of the namespace against the workflows as they are. Errors come as results, not as throws, so each is looked at;
 * finding no history is an error too.
 */
export async function replayAll(client: Client, workflowBundle: { codePath: string }): Promise<number> {
  let replayed = 0;
  const histories = client.workflow
    .list({ query: "WorkflowType IN ('sale', 'creditNote')" })
    .intoHistories({ concurrency: 4 });
  for await (const result of Worker.runReplayHistories({ workflowBundle }, histories)) {
    if (result.error)
      throw new Error(`${result.workflowId} does not replay: ${result.error.message}`, { cause: result.error });
    replayed++;
  }
  if (replayed === 0) throw new Error("There was no history to replay.");
  return replayed;
}
