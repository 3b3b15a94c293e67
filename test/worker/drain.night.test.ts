import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { bundleQuietly } from "../../src/worker/bundle-workflows.ts";
import { endPolls, Permits, tunerOf } from "../../src/worker/permits.ts";
import { RunningWorkers } from "../../src/worker/run-worker-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";
import "../rig/quiet-runtime.ts";

const MAIN = "drain-main";
const QUEUES = ["drain-a", "drain-b"];
const CALLS = 400;
const RESTARTS = 20;
/** Long enough that several are under way when a drain begins. */
const CALL_MS = 20;

describeWithTemporal("a worker's drain", () => {
  const namespace = namespaceOf(import.meta.filename);
  let connection: Connection;
  let native: NativeConnection;
  let client: Client;
  let main: RunningWorkers;
  let calls = 0;
  beforeAll(async () => {
    const address = inject("temporalAddress");
    connection = await Connection.connect({ address });
    native = await NativeConnection.connect({ address });
    client = new Client({ connection, namespace });
    const workflowsPath = fileURLToPath(new URL("./one-activity.ts", import.meta.url));
    const workflowBundle = await bundleQuietly(workflowsPath);
    const worker = await Worker.create({ connection: native, namespace, taskQueue: MAIN, workflowBundle });
    main = new RunningWorkers([worker], { endWaits: () => undefined, endPolls: () => Promise.resolve() });
  });
  afterAll(async () => {
    await main.stop();
    await native.close();
    await connection.close();
  });

  async function startWorkers(): Promise<RunningWorkers> {
    const permits = QUEUES.map(() => new Permits(8));
    const activities = {
      async call() {
        calls += 1;
        await delay(CALL_MS);
      },
    };
    const workers = await Promise.all(
      permits.map((one, index) =>
        Worker.create({
          connection: native,
          namespace,
          taskQueue: QUEUES[index] ?? "",
          activities,
          tuner: tunerOf(one),
          shutdownGraceTime: "30 seconds",
        }),
      ),
    );
    return new RunningWorkers(workers, { endWaits: () => undefined, endPolls: () => endPolls(permits, false) });
  }

  test("under load, twenty times over, loses none of hundreds of calls that may be sent only once", async () => {
    const ends: Promise<unknown>[] = [];
    const drainsMs: number[] = [];
    let over = false;
    const starting = (async () => {
      for (let n = 0; n < CALLS; n += 1) {
        const args: [string] = [QUEUES[n % QUEUES.length] ?? ""];
        const handle = await client.workflow.start("oneActivity", { workflowId: `call-${n}`, taskQueue: MAIN, args });
        ends.push(handle.result().catch((error: unknown) => error));
        await delay(10);
      }
      over = true;
    })();
    for (let n = 0; n < RESTARTS || !over; n += 1) {
      const workers = await startWorkers();
      await delay(100);
      const startedAtMs = Date.now();
      await workers.drain();
      drainsMs.push(Date.now() - startedAtMs);
    }
    await starting;
    const last = await startWorkers();
    const failures = (await Promise.all(ends)).filter((end) => end !== undefined);
    await delay(100);
    const idleAtMs = Date.now();
    await last.drain();
    const idleMs = Date.now() - idleAtMs;
    const sortedMs = drainsMs.toSorted((one, other) => one - other);
    const [medianMs, slowestMs] = [sortedMs[Math.floor(sortedMs.length / 2)], sortedMs.at(-1)];
    process.stderr.write(
      `${calls} calls in ${drainsMs.length} restarts, ${failures.length} lost; a drain took ${medianMs} ms under load (at most ${slowestMs} ms), ${idleMs} ms idle\n`,
    );
    expect(failures).toEqual([]);
    expect(calls).toBe(CALLS);
    expect(drainsMs.length).toBeGreaterThanOrEqual(RESTARTS);
  });
});
