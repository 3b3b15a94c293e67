import { afterAll, beforeAll, describe, expect, test } from "vitest";

import {
  type BatchProgress,
  type JobState,
  MAIN_TASK_QUEUE,
  STATE_QUERY,
  type SyncBatchOutcome,
  syncBatchWorkflowId,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { withLedger } from "./books.ts";

describeWithTemporal("the processing of a sync batch", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ accounting: true, receiver: false, timings: { callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig.close());

  let batches = 0;
  /** A batch that no other test has. */
  function batch(more: Record<string, unknown> = {}) {
    const id = `batch ${++batches}/x`;
    const workflowId = syncBatchWorkflowId({ connection: "default", syncBatchId: id });
    const { accounting } = rig.simulator;
    accounting.addSyncBatch({ id, ...more });
    const handle = rig.client.workflow.getHandle(workflowId);
    return {
      id,
      handle,
      fault: (fault: Record<string, unknown>) =>
        accounting.inject({ operation: "processSyncBatch", match: { syncBatchId: id }, times: 1, ...fault }),
      start: () =>
        rig.client.workflow.start(WORKFLOW_TYPES.processSyncBatch, {
          taskQueue: MAIN_TASK_QUEUE,
          workflowId,
          args: [{ syncBatchId: id }],
        }),
      result: async () => (await handle.result()) as SyncBatchOutcome,
      processed: () => accounting.syncBatches().find((one) => one.id === id)?.processed,
      calls: () =>
        accounting.calls("processSyncBatch").filter(({ path }) => path.includes(encodeURIComponent(id))).length,
      message: async () => (await handle.query<JobState<BatchProgress>>(STATE_QUERY)).attentions[0]?.message ?? "",
      /** The attention, as soon as there is one. */
      needs: async () => {
        const ask = async () => (await handle.query<JobState<BatchProgress>>(STATE_QUERY)).attentions[0];
        await expect.poll(async () => (await ask())?.code).toBeDefined();
        return await ask();
      },
      claim: () =>
        withLedger(rig.config, ({ syncBatches }) => syncBatches.read({ connection: "default", syncBatchId: id })),
    };
  }

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

  describe("of unknown outcome", () => {
    test.each([
      ["a lost answer", { when: "after", kind: "drop" }, 1],
      ["a lost request", { when: "before", kind: "drop" }, 0],
      ["a proxy's page", { when: "after", kind: "not-json" }, 1],
      ["a server error", { when: "before", kind: "status", status: 503 }, 0],
      ["an answer that never comes", { when: "after", kind: "slow", delayMs: 5_000 }, 1],
    ])("by %s waits for an operator, who says that it was processed", async (_how, fault, processed) => {
      const one = batch();
      one.fault(fault);
      await one.start();
      expect(await one.needs()).toMatchObject({ code: "batch-unknown", resolvedBy: ["resolveBatch"] });
      await one.handle.executeUpdate(UPDATES.resolveBatch, {
        args: [{ processed: true, note: "seen in the dashboard", by: "achieng" }],
      });
      expect(await one.result()).toEqual({ syncBatchId: one.id, saidBy: "person", message: "seen in the dashboard" });
      expect([one.processed(), one.calls()]).toEqual([processed, 1]);
      expect(await one.claim()).toMatchObject({ decision: { processed: true, by: "achieng" } });
    });

    test("is sent again where an operator says that it was not processed", async () => {
      const one = batch();
      one.fault({ when: "before", kind: "drop" });
      await one.start();
      await one.needs();
      const refused = one.handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: false, note: " " }] });
      await expect(refused).rejects.toMatchObject({ cause: { message: expect.stringContaining("note") } });
      const reply = await one.handle.executeUpdate(UPDATES.resolveBatch, {
        args: [{ processed: false, note: "looked" }],
      });
      expect(reply).toMatchObject({ message: expect.stringContaining("Recorded.") });
      expect(await one.result()).toMatchObject({ saidBy: "service" });
      expect([one.processed(), one.calls()]).toEqual([1, 2]);
      expect(await one.claim()).toMatchObject({ generation: 2, state: "processed" });
    });

    test("is not sent again by a run that was reset to before it was sent", async () => {
      const one = batch();
      one.fault({ when: "after", kind: "drop" });
      await one.start();
      await one.needs();
      await resetRun(rig.client, rig.namespace, one.handle.workflowId, { activity: "processSyncBatch" });
      await expect.poll(one.message).toContain("no outcome was written down");
      expect(one.calls()).toBe(1);
      await one.handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: true, note: "seen" }] });
      expect(await one.result()).toMatchObject({ saidBy: "person" });
    });

    test("needs one decision, even if an earlier run had tried more often than the present one", async () => {
      const one = batch();
      one.fault({ when: "before", kind: "rate-limit", retryAfterSeconds: 0 });
      one.fault({ when: "before", kind: "drop" });
      await one.start();
      await one.needs();
      // At least its second: where the service's pause is not over yet, the next try is put off unsent.
      const asked = (await one.claim())?.generation ?? 0;
      expect(asked).toBeGreaterThanOrEqual(2);
      await resetRun(rig.client, rig.namespace, one.handle.workflowId, { activity: "processSyncBatch" });
      await expect.poll(one.message).toContain("no outcome was written down");
      await one.handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: false, note: "looked" }] });
      expect(await one.result()).toMatchObject({ saidBy: "service" });
      expect([one.processed(), one.calls()]).toEqual([1, 3]);
      expect(await one.claim()).toMatchObject({ generation: asked + 1, state: "processed" });
    });
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
