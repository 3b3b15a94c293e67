import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { CompleteAsyncError, activityInfo } from "@temporalio/activity";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { noopMetricMeter } from "@temporalio/common";
import {
  type CustomSlotSupplier,
  NativeConnection,
  type SlotPermit,
  Worker,
  type WorkerTuner,
  type WorkflowBundle,
  type WorkflowSlotInfo,
} from "@temporalio/worker";

import { QUERY_REFUSED } from "../../src/contract/index.ts";
import { bundleQuietly, bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { guardQueries } from "../../src/worker/query-guard.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { resetRun } from "../rig/reset-run.ts";
import "../rig/quiet-runtime.ts";

const QUEUE = "query-ahead-of-its-task";
const NORMAL_QUEUE = 1;
const FAILED = 2;
const REFUSED = "not here";
const DOES_NOT_REPLAY = /TMPRL1100/;
const QUERIES = 3;

/**
 * A query waits for a worker; meanwhile an activity ends. A worker that comes is given the query first, with a history
 * that is ahead of any completed workflow task. What the SDK makes of it, and what the guard does (decision 15).
 */
describeWithTemporal("a query that is ahead of the workflow's tasks", () => {
  const namespace = namespaceOf(import.meta.filename);
  const workflowsPath = fileURLToPath(new URL("./activity-and-signal.ts", import.meta.url));
  let connection: Connection;
  let native: NativeConnection;
  let client: Client;
  beforeAll(async () => {
    const address = inject("temporalAddress");
    connection = await Connection.connect({ address });
    native = await NativeConnection.connect({ address });
    client = new Client({ connection, namespace });
  });
  afterAll(async () => {
    await native.close();
    await connection.close();
  });

  /** Waits for a query that waits for a worker, and refuses it: from now on the others wait, too. */
  async function refuseQuery(): Promise<void> {
    const { query, taskToken } = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      connection.workflowService.pollWorkflowTaskQueue({
        namespace,
        taskQueue: { name: QUEUE, kind: NORMAL_QUEUE },
        identity: "a worker that refuses",
      }),
    );
    expect(query).toBeTruthy();
    const refusal = { namespace, taskToken, completedType: FAILED, errorMessage: REFUSED };
    await connection.workflowService.respondQueryTaskCompleted(refusal);
  }

  /** Runs the workflow to its end under such a query. */
  async function askedAhead(workflowId: string, workflowBundle: WorkflowBundle, isGuarded: boolean): Promise<Asked> {
    let startedWith!: (taskToken: Uint8Array) => void;
    const firstStarted = new Promise<Uint8Array>((resolve) => (startedWith = resolve));
    const activities = {
      async first() {
        startedWith(activityInfo().taskToken);
        throw new CompleteAsyncError();
      },
      async signalledBefore() {},
      async signalledAfter() {},
    };
    const createWorker = async (slots: TaskSlots): Promise<Worker> => {
      const worker = await Worker.create({
        connection: native,
        namespace,
        taskQueue: QUEUE,
        identity: `worker-${randomUUID()}`,
        workflowBundle,
        activities,
        tuner: slots.tuner,
      });
      const log = { warn: () => undefined };
      if (isGuarded) guardQueries(worker, native, { namespace, cachedRuns: 10, meter: noopMetricMeter, log });
      return worker;
    };
    const handle = await client.workflow.start("activityAndSignal", { workflowId, taskQueue: QUEUE });
    const firstToken = await (await createWorker(new TaskSlots("all"))).runUntil(firstStarted);

    const ask = (): Promise<unknown> => handle.query<boolean>("signalled").catch((error: Error) => error.message);
    const queries = Array.from({ length: QUERIES }, ask);
    await refuseQuery();
    await client.activity.complete(firstToken, undefined);

    const slots = new TaskSlots("one");
    const worker = await createWorker(slots);
    const answers = await worker.runUntil(async () => {
      await slots.returned;
      await handle.signal("signal");
      slots.giveAll();
      await handle.result();
      return await Promise.all(queries);
    });
    const history = await handle.fetchHistory();
    const replay = (): Promise<void> => Worker.runReplayHistory({ workflowBundle }, history, workflowId);
    return { handle, answers, replay, createWorker: () => createWorker(new TaskSlots("all")) };
  }

  test("leaves a history that does not replay, with the SDK alone; a reset repairs the run", async () => {
    const workflowBundle = await bundleQuietly(workflowsPath);
    const { handle, answers, replay, createWorker } = await askedAhead("sdk-alone", workflowBundle, false);
    expect(answers).toContain(false);
    // Once this goes red, the SDK has fixed it itself, and the guard may go.
    await expect(replay()).rejects.toThrow(DOES_NOT_REPLAY);
    // What the runbook says of it.
    await resetRun(client, namespace, handle.workflowId, { activity: "signalledAfter" });
    await (await createWorker()).runUntil(client.workflow.getHandle(handle.workflowId).result());
  });

  test("leaves a history that does not replay where updates come last, too: the guard is needed as well", async () => {
    const { replay } = await askedAhead("updates-last", await bundleWorkflows(workflowsPath), false);
    await expect(replay()).rejects.toThrow(DOES_NOT_REPLAY);
  });

  test("is refused by the guard, and the history replays", async () => {
    const { answers, replay } = await askedAhead("guarded", await bundleWorkflows(workflowsPath), true);
    expect(answers).toContain(QUERY_REFUSED);
    expect(answers).not.toContain(false);
    await expect(replay()).resolves.toBeUndefined();
  });
});

interface Asked {
  readonly handle: WorkflowHandle;
  readonly answers: readonly unknown[];
  readonly replay: () => Promise<void>;
  readonly createWorker: () => Promise<Worker>;
}

/** Lets a worker take one thing for its workflows, a query as well as a task, and the rest only once it is told to. */
class TaskSlots {
  #given: number;
  #all!: () => void;
  #returned!: () => void;
  readonly #opened = new Promise<void>((resolve) => (this.#all = resolve));
  /** Resolves once the first has been seen to. */
  readonly returned = new Promise<void>((resolve) => (this.#returned = resolve));
  readonly tuner: WorkerTuner;

  constructor(at: "one" | "all") {
    this.#given = at === "one" ? 0 : 1;
    if (at === "all") this.#all();
    const supplier: CustomSlotSupplier<WorkflowSlotInfo> = {
      type: "custom",
      reserveSlot: ({ isSticky }, signal) => this.#reserve(isSticky, signal),
      tryReserveSlot: () => null,
      markSlotUsed: () => undefined,
      releaseSlot: () => this.#returned(),
    };
    const others = { type: "fixed-size", numSlots: 10 } as const;
    this.tuner = {
      workflowTaskSlotSupplier: supplier,
      activityTaskSlotSupplier: others,
      localActivityTaskSlotSupplier: others,
      nexusTaskSlotSupplier: others,
    };
  }

  giveAll(): void {
    this.#all();
  }

  async #reserve(isSticky: boolean, signal: AbortSignal): Promise<SlotPermit> {
    if (!isSticky && (this.#given += 1) === 1) return {};
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
    );
    await Promise.race([this.#opened, aborted]);
    return {};
  }
}
