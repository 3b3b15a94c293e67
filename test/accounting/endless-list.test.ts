import { afterAll, beforeAll, expect, test } from "vitest";

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

describeWithTemporal("a synchronisation of bill payments whose list never ends", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      accounting: true,
      receiver: false,
      simulator: { scenario: { accounting: { generatedBillPayments: 8 } } },
    });
    rig.simulator.accounting.changeSettings({ beyondTheEnd: "endless" });
  });
  afterAll(() => rig.close());

  test("parks, says what comes again and again, and goes on once the list has an end", async () => {
    const handle = await rig.client.workflow.start(WORKFLOW_TYPES.syncBillPayments, {
      taskQueue: MAIN_TASK_QUEUE,
      workflowId: syncBillPaymentsWorkflowId("default"),
      args: [{}],
    });
    const attention = async () => (await handle.query<JobState<SyncBillPaymentsOutcome>>(STATE_QUERY)).attentions[0];
    await expect.poll(attention).toMatchObject({
      code: "unexpected-answer",
      message: expect.stringMatching(
        /^The service gives pages that it had given before again and again \(10 times in 11 pages\), and says each time that there is a next page: page 11 of all payments was the last that was read; its `total` is 8\./,
      ),
    });
    const calls = rig.simulator.accounting.calls("listBillPayments").length;
    expect(calls).toBeLessThan(20);

    rig.simulator.accounting.changeSettings({ beyondTheEnd: "empty" });
    await handle.executeUpdate(UPDATES.retry, { args: [{ note: "the service's list has an end" }] });
    expect(await handle.result()).toMatchObject({ settled: true, total: 8 });
  });
});
