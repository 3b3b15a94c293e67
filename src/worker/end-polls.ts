import { setTimeout as delay } from "node:timers/promises";
import type { NativeConnection } from "@temporalio/worker";

import type { ActivitySlots } from "./activity-slots.ts";

/** A server ends a poll that has no task for it after a minute, unless it is configured otherwise. */
const POLL_LASTS_MS = 65_000;

/**
 * Sees to it that no poll for activities is open, so that the workers can be shut down without losing a task.
 *
 * Temporal's SDK drops its open polls on shutdown. Dropped at the moment in which the server hands out a task, the task
 * counts as started and nobody has it: it ends as StartToClose, and a call that may be sent but once ends as an unknown
 * outcome although it was never sent. So first no further poll is opened, then the open one is let run until it brings
 * a task, which is carried out as any other, or until the server ends it. With work in the queue that takes a moment,
 * on an idle queue up to a minute: nothing ends a poll early in which the server cannot be handing out a task just
 * then.
 *
 * Newer servers end the polls of a worker themselves when it says that it shuts down, and tell so by a capability of
 * the namespace. With them there is nothing to wait for: the SDK then drops no poll, but takes whatever the server
 * answers.
 */
export async function endPolls(slots: readonly ActivitySlots[], serverEndsPolls: boolean): Promise<void> {
  for (const one of slots) one.close();
  if (serverEndsPolls) return;
  const timer = new AbortController();
  const tooLate = delay(POLL_LASTS_MS, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([Promise.all(slots.map((one) => one.pollsEnded())), tooLate]);
  timer.abort();
}

/** Whether the server ends a worker's polls itself, without losing a task, when the worker shuts down. */
export async function endsPollsItself(connection: NativeConnection, namespace: string): Promise<boolean> {
  try {
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
    return namespaceInfo?.capabilities?.workerPollCompleteOnShutdown === true;
  } catch {
    // Not every server describes its namespaces to everybody; the wait is right with all of them.
    return false;
  }
}
