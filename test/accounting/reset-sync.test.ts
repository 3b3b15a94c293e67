import { afterAll, beforeAll, expect, test } from "vitest";

import {
  type JobState,
  MAIN_TASK_QUEUE,
  STATE_QUERY,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { differences, ledgersBooks, simulatorsBooks } from "./books.ts";

const workflowId = syncBillPaymentsWorkflowId("default");

describeWithTemporal("a synchronisation of bill payments that is reset", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      accounting: true,
      receiver: false,
      simulator: { scenario: { accounting: { generatedBillPayments: 250 } } },
    });
  });
  afterAll(() => rig.close());

  test("in the middle of a sweep continues that sweep, and makes known ground", async () => {
    // The first page of the second status.
    rig.simulator.inject({
      operation: "listBillPayments",
      when: "before",
      kind: "status",
      status: 403,
      match: { status: "syncing" },
      times: 1,
    });
    const handle = await rig.client.workflow.start(WORKFLOW_TYPES.syncBillPayments, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId,
      args: [{ full: true }],
    });
    const attention = async () => (await handle.query<JobState<SyncBillPaymentsOutcome>>(STATE_QUERY)).attentions[0];
    await expect.poll(attention).toMatchObject({ code: "credentials" });

    const runId = await resetRun(rig.client, rig.namespace, workflowId, {
      activity: "keepBillPaymentsPage",
      last: true,
    });
    const outcome: SyncBillPaymentsOutcome = await rig.client.workflow.getHandle(workflowId, runId).result();
    expect(outcome).toMatchObject({ settled: true, round: 1, total: 250 });
    expect(differences(simulatorsBooks(rig.simulator), await ledgersBooks(rig.config))).toEqual([]);
    // What it has read is known ground to the next one.
    const next = rig.client.workflow.start(WORKFLOW_TYPES.syncBillPayments, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId,
      args: [{}],
    });
    expect(await (await next).result()).toMatchObject({ kind: "recent", settled: true, added: 0, changed: 0 });
  });
});
