import { Queue } from "bullmq";
import { Redis } from "ioredis";

import type { Lane } from "../lanes.ts";
import type { Job } from "../workflows.ts";
import type { Engine, WorkClass } from "./engine.ts";

/** BullMQ's smaller number goes first. */
const PRIORITIES: Readonly<Record<WorkClass, number>> = { interactive: 1, background: 2 };

export interface BullmqEngineOptions {
  readonly redisUrl: string;
  /** Distinguishes runs on a Redis server that others use too. */
  readonly prefix: string;
  /** So many calls at most will be made: a queue holds its backlog from the start. */
  readonly calls: number;
}

export function bullmqEngine({ name }: Lane, { redisUrl, prefix, calls }: BullmqEngineOptions): Engine {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<Job>(name, { connection, prefix });
  const options = (workClass: WorkClass) => ({
    priority: PRIORITIES[workClass],
    removeOnComplete: true,
    attempts: 1_000,
  });
  return {
    async backlog(jobs, workClass) {
      const all = Array.from({ length: calls }, (_, index) => jobs[index % jobs.length]).filter(
        (job) => job !== undefined,
      );
      await queue.addBulk(all.map((data) => ({ name: "read", data, opts: options(workClass) })));
    },
    async job(job, workClass) {
      await queue.add("read", job, options(workClass));
    },
    async end() {
      await queue.obliterate({ force: true });
      await queue.close();
      connection.disconnect();
    },
  };
}
