import { fileURLToPath } from "node:url";
import { activityInfo, CompleteAsyncError } from "@temporalio/activity";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker, type WorkflowBundle } from "@temporalio/worker";

import { bundleQuietly, bundleWorkflows } from "../../src/worker/bundle-workflows.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { namespaceOf } from "../rig/namespace.ts";
import "../rig/quiet-runtime.ts";

const QUEUE = "update-after-an-idle-task";

/**
 * A worker loads a run from its history for an update that follows a workflow task without commands (decision 15, B).
 */
describeWithTemporal("an update after a workflow task without commands", () => {
  const namespace = namespaceOf(import.meta.filename);
  const workflowsPath = fileURLToPath(new URL("./activity-then-update.ts", import.meta.url));
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

  /** Replays what a workflow wrote whose activity ended under one worker, and that was updated under another one. */
  async function replayOf(workflowId: string, workflowBundle: WorkflowBundle): Promise<void> {
    let startedWith!: (taskToken: Uint8Array) => void;
    const firstStarted = new Promise<Uint8Array>((resolve) => (startedWith = resolve));
    const activities = {
      async first() {
        startedWith(activityInfo().taskToken);
        throw new CompleteAsyncError();
      },
      async endedBefore() {},
      async endedAfter() {},
    };
    const createWorker = (): Promise<Worker> =>
      Worker.create({ connection: native, namespace, taskQueue: QUEUE, workflowBundle, activities });
    const handle = await client.workflow.start("activityThenUpdate", { workflowId, taskQueue: QUEUE });
    const tasksDone = async (): Promise<number> =>
      (await handle.fetchHistory()).events?.filter((event) => event.workflowTaskCompletedEventAttributes).length ?? 0;
    await (
      await createWorker()
    ).runUntil(async () => {
      const taskToken = await firstStarted;
      // Two workflow tasks without commands follow one another: the SDK folds the second one into the next.
      await handle.signal("signal");
      await expect.poll(tasksDone).toBe(2);
      await client.activity.complete(taskToken, undefined);
      await expect.poll(tasksDone).toBe(3);
    });
    await (
      await createWorker()
    ).runUntil(async () => {
      await handle.executeUpdate("update");
      await handle.result();
    });
    await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), workflowId);
  }

  test("leaves a history that does not replay, with the SDK alone", async () => {
    // Once this goes red, the SDK has fixed it itself, and updates need not come last any more.
    await expect(replayOf("sdk-alone", await bundleQuietly(workflowsPath))).rejects.toThrow(/TMPRL1100/);
  });

  test("leaves a history that replays where updates come last", async () => {
    await expect(replayOf("updates-last", await bundleWorkflows(workflowsPath))).resolves.toBeUndefined();
  });
});
