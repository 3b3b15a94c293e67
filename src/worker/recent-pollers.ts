import type { ConnectionLike } from "@temporalio/client";
import { tsToMs } from "@temporalio/common/lib/time.js";

import { MAIN_TASK_QUEUE } from "../contract/index.ts";

/** `TASK_QUEUE_TYPE_WORKFLOW` and `TASK_QUEUE_TYPE_ACTIVITY` of Temporal's API. */
const QUEUE_TYPES = { workflow: 1, activity: 2 } as const;
/** A poll lasts a minute at most; who has not polled for longer does not poll any more. */
const POLLED_WITHIN_MS = 90_000;

/** A worker that Temporal has seen polling lately, and when it began its last poll. */
export interface RecentPoll {
  identity: string;
  polledAtMs: number;
}

/** Default: the main queue, for workflows. */
export async function recentPolls(
  connection: ConnectionLike,
  namespace: string,
  { name, type }: { name: string; type: keyof typeof QUEUE_TYPES } = { name: MAIN_TASK_QUEUE, type: "workflow" },
): Promise<RecentPoll[]> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: QUEUE_TYPES[type],
  });
  return (pollers ?? []).flatMap(({ identity, lastAccessTime }) => {
    if (!identity || !lastAccessTime) return [];
    const polledAtMs = tsToMs(lastAccessTime);
    return Date.now() - polledAtMs <= POLLED_WITHIN_MS ? [{ identity, polledAtMs }] : [];
  });
}

/** The identities of the workers that Temporal has seen polling the main queue lately. */
export async function recentPollers(connection: ConnectionLike, namespace: string): Promise<string[]> {
  return (await recentPolls(connection, namespace)).map(({ identity }) => identity);
}
