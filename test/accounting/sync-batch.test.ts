import { afterAll, beforeAll, expect, test } from "vitest";

import {
  type BatchProgress,
  type JobState,
  MAIN_TASK_QUEUE,
  STATE_QUERY,
  syncBatchWorkflowId,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { batchesOf } from "./batches-of.ts";

describeWithTemporal("the processing of a sync batch", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ accounting: true, receiver: false, timings: { callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig.close());

  const batch = batchesOf(() => rig);

  test("is sent once, and its outcome is returned to later starts", async () => {
    const one = batch({ message: "42 bills were synced." });
    await one.start();
    const outcome = { syncBatchId: one.id, saidBy: "service", message: "42 bills were synced." };
    expect(await one.result()).toEqual(outcome);
    await one.start();
    expect(await one.result()).toEqual(outcome);
    expect([one.processed(), one.calls()]).toEqual([1, 1]);
    expect(await one.claim()).toMatchObject({
      state: "processed",
      generation: 1,
      writer: { workflowId: one.handle.workflowId },
    });
  });

  test("is sent again where it certainly was not processed", async () => {
    const one = batch();
    one.fault({ when: "before", kind: "rate-limit", retryAfterSeconds: 1 });
    await one.start();
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    expect([one.processed(), one.calls()]).toEqual([1, 2]);
  });

  test("that is refused waits with the service's message, and is sent again by a retry", async () => {
    const one = batch();
    one.fault({ when: "before", kind: "status", status: 409, body: { message: "The batch is empty" } });
    await one.start();
    expect(await one.needs()).toMatchObject({
      code: "invalid-request",
      message: expect.stringContaining("The batch is empty"),
    });
    await one.handle.executeUpdate(UPDATES.retry, { args: [{ note: "filled it" }] });
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    expect([one.processed(), one.calls()]).toEqual([1, 2]);
  });

  test("that does not exist parks as not-found, and one of another company as credentials", async () => {
    const unknown = rig.client.workflow.start(WORKFLOW_TYPES.processSyncBatch, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId: syncBatchWorkflowId({ connection: "default", syncBatchId: "nothing" }),
      args: [{ syncBatchId: "nothing" }],
    });
    const query = async () => (await (await unknown).query<JobState<BatchProgress>>(STATE_QUERY)).attentions[0]?.code;
    await expect.poll(query).toBe("not-found");
    await (await unknown).terminate();
    const other = batch({ companyId: "company_2" });
    rig.simulator.accounting.setApplication("simulator", { companies: ["company_1"] });
    await other.start();
    expect(await other.needs()).toMatchObject({ code: "credentials" });
    rig.simulator.accounting.setApplication("simulator", { companies: null });
    await other.handle.executeUpdate(UPDATES.retry, { args: [{}] });
    expect(await other.result()).toMatchObject({ saidBy: "service" });
    expect(other.processed()).toBe(1);
  });
});
