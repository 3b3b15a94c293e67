import { fileURLToPath } from "node:url";
import { CompleteAsyncError, activityInfo } from "@temporalio/activity";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { NativeConnection, Worker, type WorkflowBundle } from "@temporalio/worker";

import { isWithoutAnswer } from "../../src/starter/answered-in-time.ts";
import { bundleQuietly, bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { resetRun } from "../rig/reset-run.ts";
import "../rig/quiet-runtime.ts";

const QUEUE = "query-beside-a-task";
/** Of so many that are sent at once, all wait once so many have been seen to. */
const QUERIES = 10;
const REFUSED = 3;
const NORMAL_QUEUE = 1;
const OF_WORKFLOW_TASKS = 1;
const FAILED = 2;
const DOES_NOT_REPLAY = /TMPRL1100.*Update machine does not handle this event.*ActivityTaskScheduled/;

// What the SDK makes of it, and what the interceptor of the workflows makes of that (decision 15).
describeWithTemporal("a query that is answered beside a workflow task with an update", () => {
  const namespace = namespaceOf(import.meta.filename);
  let connection: Connection;
  let native: NativeConnection;
  let client: Client;
  const workflowsPath = fileURLToPath(new URL("./activity-then-update.ts", import.meta.url));
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

  /** Waits for a query that waits for a worker, and refuses it. */
  async function refuseQuery(): Promise<void> {
    const { query, taskToken } = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      connection.workflowService.pollWorkflowTaskQueue({
        namespace,
        taskQueue: { name: QUEUE, kind: NORMAL_QUEUE },
        identity: "a worker that refuses",
      }),
    );
    expect(query).toBeTruthy();
    const refusal = { namespace, taskToken, completedType: FAILED, errorMessage: "not here" };
    await connection.workflowService.respondQueryTaskCompleted(refusal);
  }

  async function tasksInQueue(): Promise<number> {
    const queue = { taskQueue: { name: QUEUE, kind: NORMAL_QUEUE }, taskQueueType: OF_WORKFLOW_TASKS };
    const { stats } = await connection.workflowService.describeTaskQueue({ namespace, ...queue, reportStats: true });
    return Number(stats?.approximateBacklogCount ?? 0);
  }

  /** With no worker there, a query waits; then something happens, and an update is sent; then a worker comes, and is given the query first. */
  async function askedBesideATask(name: string, workflowBundle: WorkflowBundle): Promise<Asked> {
    for (let n = 1; ; n++) {
      const asked = await tryToAsk(`${name}-${n}`, workflowBundle);
      if (asked) return asked;
    }
  }

  /** Nothing where it came otherwise: the update is left out where the query's answer has the task's start too, and is to be sent again. */
  async function tryToAsk(workflowId: string, workflowBundle: WorkflowBundle): Promise<Asked | undefined> {
    let startedWith!: (taskToken: Uint8Array) => void;
    const firstStarted = new Promise<Uint8Array>((resolve) => (startedWith = resolve));
    const activities = {
      async first() {
        startedWith(activityInfo().taskToken);
        throw new CompleteAsyncError();
      },
      async second() {},
    };
    const createWorker = (): Promise<Worker> =>
      Worker.create({ connection: native, namespace, taskQueue: QUEUE, workflowBundle, activities });
    const handle = await client.workflow.start("activityThenUpdate", { workflowId, taskQueue: QUEUE });
    const before = await createWorker();
    const firstToken = await before.runUntil(firstStarted);

    const queries = Array.from({ length: QUERIES }, () => handle.query<number>("updates").catch(() => undefined));
    // Those that come once there is a task would wait for it.
    for (let n = 0; n < REFUSED; n++) await refuseQuery();
    const updated = handle.executeUpdate("update").then(
      () => true,
      (error: unknown) => {
        if (isWithoutAnswer(error)) return false;
        throw error;
      },
    );
    await client.activity.complete(firstToken, undefined);
    await expect.poll(tasksInQueue).toBeGreaterThan(0);

    const answering = await createWorker();
    const met = await answering.runUntil(async () => {
      const answers = await Promise.all(queries);
      if (!(await updated)) return false;
      // Only what a later task comes after is held against the history.
      await expect.poll(() => tasksDoneAfterSecond(handle)).toBe(1);
      // From before the update, although all events that come with it had been acted upon.
      return answers.includes(0);
    });
    if (!met) {
      await handle.terminate();
      return undefined;
    }
    const replay = Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), workflowId);
    return { handle, replay, createWorker };
  }

  test("leaves a run that has acted upon the task's events without it, whose history then does not replay; a reset carries it on", async () => {
    const workflowBundle = await bundleQuietly(workflowsPath);
    const { handle, replay, createWorker } = await askedBesideATask("as-the-sdk-does", workflowBundle);
    // Once it does: the SDK has mended it, and the interceptor may go.
    await expect(replay).rejects.toThrow(DOES_NOT_REPLAY);
    await (
      await createWorker()
    ).runUntil(async () => {
      const unanswered = handle.executeUpdate("update").catch(() => {});
      await expect.poll(() => failuresOf(handle)).toContainEqual(expect.stringMatching(DOES_NOT_REPLAY));
      // What the runbook says of it.
      await resetRun(client, namespace, handle.workflowId, { activity: "second" });
      await unanswered;
      const newRun = client.workflow.getHandle(handle.workflowId);
      await newRun.executeUpdate("update");
      expect(await newRun.result()).toBeGreaterThan(1);
    });
  });

  test("changes nothing where updates come last: its history replays, and another worker goes on", async () => {
    const workflowBundle = await bundleWorkflows(workflowsPath);
    const { handle, replay, createWorker } = await askedBesideATask("updates-last", workflowBundle);
    await expect(replay).resolves.toBeUndefined();
    await (
      await createWorker()
    ).runUntil(async () => {
      await handle.executeUpdate("update");
      expect(await handle.result()).toBe(2);
    });
    expect(await failuresOf(handle)).not.toContainEqual(expect.any(String));
    const whole = Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), handle.workflowId);
    await expect(whole).resolves.toBeUndefined();
  });

  async function tasksDoneAfterSecond(handle: WorkflowHandle): Promise<number> {
    const events = (await handle.fetchHistory()).events ?? [];
    const ends = events.flatMap((event, index) => (event.activityTaskCompletedEventAttributes ? [index] : []));
    return events.slice(ends[1] ?? events.length).filter((event) => event.workflowTaskCompletedEventAttributes).length;
  }

  async function failuresOf(handle: WorkflowHandle): Promise<(string | null | undefined)[]> {
    const { events } = await handle.fetchHistory();
    return (events ?? []).map((event) => event.workflowTaskFailedEventAttributes?.failure?.message);
  }
});

interface Asked {
  readonly handle: WorkflowHandle;
  readonly replay: Promise<void>;
  readonly createWorker: () => Promise<Worker>;
}
