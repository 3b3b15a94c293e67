import type { ConnectionLike } from "@temporalio/client";
import { tsToMs } from "@temporalio/common/lib/time.js";

import { MAIN_TASK_QUEUE } from "../contract/index.ts";

/** `TASK_QUEUE_TYPE_WORKFLOW` of Temporal's API. */
const WORKFLOW_QUEUE = 1;
/** A poll lasts a minute at most; who has not polled for longer does not poll any more. */
const POLLED_WITHIN_MS = 90_000;

/** The identities of the workers that Temporal has seen polling the main queue for workflows lately. */
export async function recentPollers(connection: ConnectionLike, namespace: string): Promise<string[]> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: MAIN_TASK_QUEUE },
    taskQueueType: WORKFLOW_QUEUE,
  });
  return (pollers ?? []).flatMap(({ identity, lastAccessTime }) =>
    identity && lastAccessTime && Date.now() - tsToMs(lastAccessTime) <= POLLED_WITHIN_MS ? [identity] : [],
  );
}
