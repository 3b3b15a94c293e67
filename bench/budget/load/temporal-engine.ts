import { randomUUID } from "node:crypto";
import type { Client } from "@temporalio/client";

import { complianceBackgroundTaskQueue, complianceTaskQueue } from "../../../src/contract/index.ts";
import type { Lane } from "../lanes.ts";
import type * as workflows from "../workflows.ts";
import type { Job, Way } from "../workflows.ts";
import type { Engine, WorkClass } from "./engine.ts";

/** Of the workflows of the benchmark, which run in its own process. */
export const BENCH_TASK_QUEUE = "fiscalflow-bench";

/** As the product's own calls have them (`workflows/proxies.ts`). */
const PRIORITY_KEYS: Readonly<Record<WorkClass, number>> = { interactive: 2, background: 4 };

/** Of a workflow's history: it must stay well below what Temporal takes. */
const JOBS_IN_A_WORKFLOW = 60;

/**
 * Work on the task queues of the product's applications. The product has one for each class; what has no budget of its
 * own gets both classes in one queue, ordered by priority, since two queues would spend the limit twice.
 */
export function temporalEngine(client: Client, { name, runner }: Lane): Engine {
  const endless: string[] = [];

  function wayOf(workClass: WorkClass, businessId: string): Way {
    const ownQueue = runner === "product" && workClass === "background";
    return {
      taskQueue: ownQueue ? complianceBackgroundTaskQueue(name) : complianceTaskQueue(name),
      priority: { priorityKey: PRIORITY_KEYS[workClass], fairnessKey: businessId },
    };
  }

  async function start(
    type: keyof typeof workflows,
    jobs: readonly Job[],
    businessId: string,
    workClass: WorkClass,
  ): Promise<string> {
    const workflowId = `bench/${name}/${randomUUID()}`;
    const args = [{ way: wayOf(workClass, businessId), jobs }];
    await client.workflow.start(type, { workflowId, taskQueue: BENCH_TASK_QUEUE, args });
    return workflowId;
  }

  return {
    async backlog(jobs, workClass) {
      for (const businessId of new Set(jobs.map((job) => job.businessId))) {
        const theirs = jobs.filter((job) => job.businessId === businessId);
        for (let first = 0; first < theirs.length; first += JOBS_IN_A_WORKFLOW)
          endless.push(await start("backlog", theirs.slice(first, first + JOBS_IN_A_WORKFLOW), businessId, workClass));
      }
    },
    async job(job, workClass) {
      await start("oneCall", [job], job.businessId, workClass);
    },
    async end() {
      for (const workflowId of endless.splice(0))
        await client.workflow.getHandle(workflowId).terminate("the benchmark's lane is over");
    },
  };
}
