import { ApplicationFailure } from "@temporalio/common";
import { NativeConnection, Worker as TemporalWorker } from "@temporalio/worker";
import { Worker as BullWorker } from "bullmq";
import { Redis } from "ioredis";

import { complianceTaskQueue } from "../../../src/contract/index.ts";
import { installQuietRuntime } from "../../stack/quiet-runtime.ts";
import { READY_LINE } from "../../stack/spawn-script.ts";
import type { Job } from "../workflows.ts";
import { FIXED_SLOTS, type RivalOrders } from "./orders.ts";
import { readDocument } from "./read-document.ts";

/**
 * A worker process of the comparisons: the same calls as the product's, in the ways that are at hand without it. Ends
 * when killed.
 */
type RivalLane = RivalOrders["lanes"][number];

const orders = JSON.parse(process.argv[2] ?? "") as RivalOrders;
const { serviceUrl, temporalAddress, limit, windowMs } = orders;

/** Fixed slots, and a retry after the Retry-After of a 429. */
async function temporalWorker(lane: RivalLane, connection: NativeConnection): Promise<TemporalWorker> {
  const perSecond = lane.runner === "per-second" ? limit / (windowMs / 1_000) : undefined;
  return TemporalWorker.create({
    connection,
    taskQueue: complianceTaskQueue(lane.name),
    maxConcurrentActivityTaskExecutions: FIXED_SLOTS,
    ...(perSecond !== undefined && { maxTaskQueueActivitiesPerSecond: perSecond }),
    activities: {
      async readDocument(job: Job): Promise<void> {
        const { status, retryAfterMs } = await readDocument(serviceUrl, lane.apiKey, job);
        if (status === 429) throw ApplicationFailure.create({ message: "HTTP 429", nextRetryDelay: retryAfterMs });
      },
    },
  });
}

/** As BullMQ's documentation has it: a limiter, and the queue's pause after a 429. */
function bullWorker(lane: RivalLane, redis: NonNullable<RivalOrders["redis"]>): void {
  const worker = new BullWorker<Job>(
    lane.name,
    async ({ data }) => {
      const { status, retryAfterMs } = await readDocument(serviceUrl, lane.apiKey, data);
      if (status !== 429) return;
      await worker.rateLimit(retryAfterMs);
      throw BullWorker.RateLimitError();
    },
    {
      connection: new Redis(redis.url, { maxRetriesPerRequest: null }),
      prefix: redis.prefix,
      concurrency: FIXED_SLOTS,
      limiter: { max: limit, duration: windowMs },
    },
  );
  // The benchmark takes the queue away before it ends this process.
  worker.on("error", () => undefined);
}

installQuietRuntime();
const connection = await NativeConnection.connect({ address: temporalAddress });
const running: Promise<void>[] = [];
for (const lane of orders.lanes) {
  if (lane.runner === "bullmq") {
    if (orders.redis) bullWorker(lane, orders.redis);
  } else {
    running.push((await temporalWorker(lane, connection)).run());
  }
}
process.stdout.write(`${READY_LINE}\n`);
await Promise.all(running);
