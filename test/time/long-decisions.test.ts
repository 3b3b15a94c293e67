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
import { describeSkippingTime, type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

describeSkippingTime("an operator's late decision", () => {
  let rig: SkippingRig;
  beforeAll(async () => {
    rig = await startSkippingRig();
  });
  afterAll(() => rig?.close());

  test.each(["2 hours", "3 days"] as const)("on an unknown sync batch still counts after %s", async (pause) => {
    const { accounting } = rig.simulator;
    const id = `batch of ${pause}`;
    accounting.addSyncBatch({ id });
    accounting.inject({ operation: "processSyncBatch", match: { syncBatchId: id }, when: "after", kind: "drop" });
    const handle = await rig.env.client.workflow.start(WORKFLOW_TYPES.processSyncBatch, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId: syncBatchWorkflowId({ connection: "default", syncBatchId: id }),
      args: [{ syncBatchId: id }],
    });
    await rig.env.sleep(pause);
    const state = await handle.query<JobState<BatchProgress>>(STATE_QUERY);
    expect(state).toMatchObject({ attentions: [{ code: "batch-unknown" }] });
    await handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: true, note: "seen in the books" }] });
    expect(await handle.result()).toMatchObject({ saidBy: "person", message: "seen in the books" });
    await rig.replayed(handle);
  });
});
