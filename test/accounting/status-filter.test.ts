import { afterAll, beforeAll, expect, test } from "vitest";

import { parseAccountingDialect } from "../../src/accounting/index.ts";
import {
  type JobState,
  MAIN_TASK_QUEUE,
  STATE_QUERY,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { ledgersBooks } from "./books.ts";

const workflowId = syncBillPaymentsWorkflowId("default");

/** The name of the filter is the dialect's, and a service may ignore one that it does not know. */
describeWithTemporal("a synchronisation of bill payments from a service that ignores the status filter", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      accounting: true,
      receiver: false,
      simulator: { scenario: { accounting: { generatedBillPayments: 25 } } },
      env: { ACCOUNTING_DIALECT: '{"billPayments":{"status":"syncStatus"}}' },
    });
    rig.simulator.accounting.changeSettings({ refuseUnknownFields: false });
  });
  afterAll(() => rig.close());

  test("parks before a payment is kept, and goes on once the dialect is corrected", async () => {
    const handle = await rig.client.workflow.start(WORKFLOW_TYPES.syncBillPayments, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId,
      args: [{}],
    });
    const attention = async () => (await handle.query<JobState<SyncBillPaymentsOutcome>>(STATE_QUERY)).attentions[0];
    await expect.poll(attention).toMatchObject({
      code: "unexpected-answer",
      message: expect.stringContaining(
        "the service does not filter by status. Give billPayments.status of ACCOUNTING_DIALECT the service's name for it",
      ),
    });
    expect((await ledgersBooks(rig.config)).size).toBe(0);
    expect(rig.simulator.accounting.calls("listBillPayments")).toHaveLength(3);

    const start = { workflow: "syncBillPayments", workflowId, input: {}, ifRunning: "wait" };
    const startedBySchedule = await rig.client.workflow.start("scheduled", {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId: `scheduled/${workflowId}`,
      args: [start],
    });
    const waits = { waitingFor: `the end of ${workflowId}, which is under way`, progress: { tries: 1 } };
    expect(await startedBySchedule.query(STATE_QUERY)).toMatchObject(waits);
    await startedBySchedule.terminate();

    await rig.stopWorkers();
    for (const connection of rig.config.accounting) connection.dialect = parseAccountingDialect();
    await rig.startWorkers();
    await handle.executeUpdate(UPDATES.retry, { args: [{ note: "the name is corrected" }] });
    expect(await handle.result()).toMatchObject({ settled: true, total: 25 });
  });
});
