import { afterAll, beforeAll, describe, expect, test } from "vitest";

import {
  type BatchProgress,
  type JobState,
  MAIN_TASK_QUEUE,
  type ProcessBatchRequest,
  STATE_QUERY,
  syncBatchWorkflowId,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { type SkippingRig, startSkippingRig } from "../rig/skipping-rig.ts";

describe("a sync batch of unknown outcome, over days", () => {
  let rig: SkippingRig;
  beforeAll(async () => {
    rig = await startSkippingRig();
  });
  afterAll(() => rig?.close());

  /** Its first answer is lost. */
  async function startLosing(id: string, when: "before" | "after") {
    rig.simulator.accounting.addSyncBatch({ id });
    const lost = { operation: "processSyncBatch", when, kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { syncBatchId: id } });
    return await rig.env.client.workflow.start(WORKFLOW_TYPES.processSyncBatch, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId: syncBatchWorkflowId({ connection: "default", syncBatchId: id }),
      args: [{ syncBatchId: id }],
    });
  }

  test.each(["2 hours", "3 days"] as const)(
    "waits for an operator, whose word still counts after %s",
    async (pause) => {
      const handle = await startLosing(`batch of ${pause}`, "after");
      await rig.env.sleep(pause);
      const state = await handle.query<JobState<BatchProgress>>(STATE_QUERY);
      expect(state).toMatchObject({ attentions: [{ code: "batch-unknown" }] });
      await handle.executeUpdate(UPDATES.resolveBatch, { args: [{ processed: true, note: "seen in the books" }] });
      expect(await handle.result()).toMatchObject({ saidBy: "person", message: "seen in the books" });
      await rig.replayed(handle);
    },
  );

  test.each([
    ["is done", "processed", "after", "12 bills were synced.", 1],
    ["is sent again", "not-processed", "before", "The batch was processed", 2],
  ] as const)(
    "%s without an operator once the attempt that was given up has written down that it was %s",
    async (_what, kind, when, message, calls) => {
      const { accounting } = rig.simulator;
      const id = `batch ${kind}`;
      const handle = await startLosing(id, when);
      const shown = () => handle.query<JobState<BatchProgress>>(STATE_QUERY);
      await expect.poll(async () => (await shown()).attentions).toMatchObject([{ code: "batch-unknown" }]);
      const { events } = await handle.fetchHistory();
      const sent = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: task }) =>
        task?.activityType?.name === "processSyncBatch" ? (task.input?.payloads ?? []) : [],
      );
      const request = JSON.parse(Buffer.from(sent[0]?.data ?? []).toString()) as ProcessBatchRequest;
      const writer = { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
      await rig.ledger.syncBatches.settle({ ...request, outcome: { kind, message }, writer });
      const writtenAtMs = await rig.env.currentTimeMs();
      expect(await handle.result()).toMatchObject({
        saidBy: "service",
        message: expect.stringContaining(message) as string,
      });
      const { closeTime } = await handle.describe();
      expect((closeTime?.getTime() ?? Infinity) - writtenAtMs).toBeLessThan(5 * 60_000);
      expect((await shown()).decisions).toEqual([]);
      expect(accounting.syncBatches().find((batch) => batch.id === id)?.processed).toBe(1);
      const paths = accounting.calls("processSyncBatch").filter(({ path }) => path.includes(encodeURIComponent(id)));
      expect(paths).toHaveLength(calls);
      await rig.replayed(handle);
    },
  );
});
