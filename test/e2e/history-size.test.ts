import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput, WorkflowState } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import type { HistoryEvent } from "../rig/goods.ts";
import { historiesOf, workflowTasksIn } from "../rig/histories-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the history of a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await historyOf("WARM-UP");
  });
  afterAll(() => rig?.close());

  const { historyOf } = historiesOf(() => rig);
  /** The callback comes once nothing else is under way: two answers that come together make one workflow task. */
  async function calledBack(invoice: string, more: Partial<SaleInput> = {}): Promise<HistoryEvent[]> {
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const history = historyOf(invoice, more);
    const isQuiet = ({ stage, stockMovements: [movement] }: WorkflowState): boolean =>
      stage === "awaiting-authority" && movement?.state === "applied";
    await expect.poll(() => rig.simulator.documents(invoice)).toHaveLength(1);
    const { document } = await rig.stateWhen(invoice, isQuiet);
    rig.simulator.setDocumentStatus(document?.id ?? "", "completed");
    return await history;
  }
  const WINDOW = { refundWindow: "1s" };

  test("has 25 events and 4 workflow tasks when it is accepted at once, and 30 and 5 with a refund window", async () => {
    const events = await historyOf("ACCEPTED-1", { callback: "off" });
    expect([events.length, workflowTasksIn(events)]).toEqual([25, 4]);
    const open = await historyOf("ACCEPTED-2", { callback: "off", ...WINDOW });
    expect([open.length, workflowTasksIn(open)]).toEqual([30, 5]);
  });

  test("has 39 events and 6 workflow tasks when it is in flight until its callback, and 44 and 7 with a refund window", async () => {
    const events = await calledBack("CALLBACK-1");
    expect([events.length, workflowTasksIn(events)]).toEqual([39, 6]);
    const open = await calledBack("CALLBACK-2", WINDOW);
    expect([open.length, workflowTasksIn(open)]).toEqual([44, 7]);
  });

  test("has the business as the fairness key of each call to the API", async () => {
    const events = await historyOf("FAIR-1");
    const calls = events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.taskQueue?.name?.startsWith("fiscalflow.compliance.") ? [scheduled] : [],
    );
    expect(calls.map(({ activityType, priority }) => [activityType?.name, priority])).toEqual([
      ["createSale", expect.objectContaining({ fairnessKey: "biz_1" })],
      ["adjustStock", expect.objectContaining({ fairnessKey: "biz_1" })],
    ]);
  });

  test("fails once, and not for ever, when a sale is started without any input", async () => {
    const options = { workflowId: "no-input", taskQueue: "fiscalflow", args: [] };
    await expect(rig.client.workflow.execute("sale", options)).rejects.toMatchObject({
      cause: { type: "InvalidInput" },
    });
  });
});
