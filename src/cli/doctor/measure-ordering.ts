import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";

/**
 * No server tells whether it orders by priority and fairness: neither its capabilities nor a queue's description do. So
 * a queue of our own is filled with a crowd of one tenant; then come tasks of small tenants, and urgent ones; and the
 * order in which they are served tells. One workflow of a type that nobody serves carries them, and is ended and
 * deleted at the end.
 *
 * Measured on server 1.29.1, mean places as shares of the queue, with one partition and with four: urgent tasks 0.03 to
 * 0.12 with priority, 0.75 to 0.91 without; small tenants 0.16 to 0.44 with fairness, 0.60 to 0.91 without.
 */
export interface OrderingShares {
  urgent: number;
  smallTenants: number;
}

const CROWD = 40;
const SMALL_TENANTS = 8;
const URGENT = 4;
const TOTAL = CROWD + SMALL_TENANTS + URGENT;
/**
 * Scheduled tasks take a moment to arrive in their queue. Its own count of them comes late, and not on every server: it
 * is looked at so often.
 */
const LOOK_EVERY_MS = 300;
const LOOKS = 3;
const ACTIVITY_QUEUE = 2;
const POLL_MS = 5_000;
const LIFETIME = "2 minutes";
const SCHEDULE_ACTIVITY_TASK = 1;
const IDENTITY = "fiscalflow-doctor";
const TYPE = { name: "fiscalflowDoctorProbe" };

interface Task {
  activityId: string;
  priority: { priorityKey: number; fairnessKey: string };
}

/** @throws Error where the server does not serve all tasks in time */
export async function measureOrdering(connection: Connection, namespace: string): Promise<OrderingShares> {
  const { workflowService: service } = connection;
  const name = `fiscalflow.doctor.${randomUUID()}`;
  const taskQueue = { name };
  const within = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    connection.withDeadline(Date.now() + POLL_MS, call);
  const { runId } = await service.startWorkflowExecution({
    namespace,
    workflowId: name,
    workflowType: TYPE,
    taskQueue,
    requestId: randomUUID(),
    identity: IDENTITY,
    workflowExecutionTimeout: msToTs(LIFETIME),
  });
  const workflowExecution = { workflowId: name, runId };

  let scheduled = 0;
  async function schedule(tasks: Task[]): Promise<void> {
    const { taskToken } = await within(() =>
      service.pollWorkflowTaskQueue({ namespace, taskQueue, identity: IDENTITY }),
    );
    const timeouts = { scheduleToCloseTimeout: msToTs(LIFETIME), startToCloseTimeout: msToTs(LIFETIME) };
    const commands = tasks.map((task) => ({
      commandType: SCHEDULE_ACTIVITY_TASK,
      scheduleActivityTaskCommandAttributes: { ...task, activityType: TYPE, taskQueue, ...timeouts },
    }));
    await service.respondWorkflowTaskCompleted({ namespace, taskToken, identity: IDENTITY, commands });
    scheduled += tasks.length;
    for (let look = 0; look < LOOKS; look += 1) {
      await delay(LOOK_EVERY_MS);
      const queue = { namespace, taskQueue, taskQueueType: ACTIVITY_QUEUE, reportStats: true };
      const { stats } = await service.describeTaskQueue(queue);
      if (Number(stats?.approximateBacklogCount ?? 0) >= scheduled) return;
    }
  }

  try {
    await schedule(tasksOf("crowd", CROWD, 3, () => "crowd"));
    const signal = { signalName: "next", identity: IDENTITY, requestId: randomUUID() };
    await service.signalWorkflowExecution({ namespace, workflowExecution, ...signal });
    await schedule([
      ...tasksOf("small", SMALL_TENANTS, 3, (index) => `small-${index}`),
      ...tasksOf("urgent", URGENT, 1, () => "crowd"),
    ]);
    const served: string[] = [];
    while (served.length < TOTAL) {
      const { activityId } = await within(() =>
        service.pollActivityTaskQueue({ namespace, taskQueue, identity: IDENTITY }),
      );
      if (!activityId) throw new Error(`the server handed out ${served.length} of ${TOTAL} tasks`);
      served.push(activityId);
    }
    return { urgent: meanShare(served, "urgent"), smallTenants: meanShare(served, "small") };
  } finally {
    const reason = "The experiment of `fiscalflow doctor` is over.";
    await service.terminateWorkflowExecution({ namespace, workflowExecution, reason }).catch(() => undefined);
    // Not every server lets everybody delete; then its retention does.
    await service.deleteWorkflowExecution({ namespace, workflowExecution }).catch(() => undefined);
  }
}

function tasksOf(kind: string, count: number, priorityKey: number, tenant: (index: number) => string): Task[] {
  return Array.from({ length: count }, (_, index) => ({
    activityId: `${kind}-${index}`,
    priority: { priorityKey, fairnessKey: tenant(index) },
  }));
}

/** 0: served first; 1: served last. */
function meanShare(served: readonly string[], kind: string): number {
  const places = served.flatMap((id, place) => (id.startsWith(kind) ? [place] : []));
  return places.reduce((sum, place) => sum + place, 0) / places.length / served.length;
}
