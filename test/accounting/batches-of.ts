import { expect } from "vitest";

import {
  type BatchProgress,
  type JobState,
  MAIN_TASK_QUEUE,
  STATE_QUERY,
  type SyncBatchOutcome,
  syncBatchWorkflowId,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import type { Fault } from "../../src/dev/simulator/index.ts";
import type { Rig } from "../rig/start-rig.ts";
import { withLedger } from "./books.ts";

/** @param rig asked when it is needed: a suite's helpers are there before its rig */
export function batchesOf(rig: () => Rig) {
  let batches = 0;
  /** A batch that no other test has. */
  return (more: Record<string, unknown> = {}) => {
    const id = `batch ${++batches}/x`;
    const workflowId = syncBatchWorkflowId({ connection: "default", syncBatchId: id });
    const { accounting } = rig().simulator;
    accounting.addSyncBatch({ id, ...more });
    /** A run of it under this workflow id. */
    const under = (runOf: string) => {
      const handle = rig().client.workflow.getHandle(runOf);
      const ask = async () => (await handle.query<JobState<BatchProgress>>(STATE_QUERY)).attentions[0];
      return {
        handle,
        start: () =>
          rig().client.workflow.start(WORKFLOW_TYPES.processSyncBatch, {
            taskQueue: MAIN_TASK_QUEUE,
            workflowId: runOf,
            args: [{ syncBatchId: id }],
          }),
        result: async () => (await handle.result()) as SyncBatchOutcome,
        message: async () => (await ask())?.message ?? "",
        /** The attention, as soon as there is one. */
        needs: async () => {
          await expect.poll(async () => (await ask())?.code).toBeDefined();
          return await ask();
        },
      };
    };
    return {
      id,
      under,
      ...under(workflowId),
      fault: (fault: Pick<Fault, "when" | "kind"> & Partial<Fault>) =>
        rig().simulator.inject({ operation: "processSyncBatch", match: { syncBatchId: id }, times: 1, ...fault }),
      processed: () => accounting.syncBatches().find((one) => one.id === id)?.processed,
      calls: () =>
        accounting.calls("processSyncBatch").filter(({ path }) => path.includes(encodeURIComponent(id))).length,
      claim: () =>
        withLedger(rig().config, ({ syncBatches }) => syncBatches.read({ connection: "default", syncBatchId: id })),
    };
  };
}
