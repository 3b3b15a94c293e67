import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the history of a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ env: { COMPLIANCE_BUSINESS_WEIGHTS: '{"biz_1": 2.5}' } });
    await eventsOf("WARM-UP");
  });
  afterAll(() => rig?.close());

  async function historyOf(traderInvoiceNumber: string, more: Partial<SaleInput> = {}) {
    const input = {
      traderInvoiceNumber,
      lines: [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }],
      refundWindow: "0",
      ...more,
    };
    const { workflowId } = await rig.starter.startSale(input);
    const handle = rig.client.workflow.getHandle(workflowId);
    await handle.result();
    return (await handle.fetchHistory()).events ?? [];
  }
  const eventsOf = async (...sale: Parameters<typeof historyOf>): Promise<number> => (await historyOf(...sale)).length;

  const tasksIn = (events: Awaited<ReturnType<typeof historyOf>>): number =>
    events.filter(({ workflowTaskCompletedEventAttributes: task }) => task).length;

  test("has 27 events and 4 workflow tasks when it is accepted at once", async () => {
    const events = await historyOf("ACCEPTED-1", { callback: "off" });
    expect([events.length, tasksIn(events)]).toEqual([27, 4]);
  });

  test("has at most 48 events and 8 workflow tasks when it is in flight with a callback", async () => {
    rig.simulator.setAuthority("CALLBACK-1", [{ do: "accept", afterMs: 300 }]);
    const events = await historyOf("CALLBACK-1");
    expect(events.length).toBeLessThanOrEqual(48);
    expect(tasksIn(events)).toBeLessThanOrEqual(8);
  });

  test("has the business as the fairness key of each call to the API, with its weight", async () => {
    const events = await historyOf("WEIGHTY-1");
    const calls = events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.taskQueue?.name?.startsWith("fiscalflow.compliance.") ? [scheduled] : [],
    );
    expect(calls.map(({ activityType, priority }) => [activityType?.name, priority])).toEqual([
      ["createSale", expect.objectContaining({ fairnessKey: "biz_1", fairnessWeight: 2.5 })],
      ["adjustStock", expect.objectContaining({ fairnessKey: "biz_1", fairnessWeight: 2.5 })],
    ]);
  });

  test("fails once, and not for ever, when a sale is started without any input", async () => {
    const options = { workflowId: "no-input", taskQueue: "fiscalflow", args: [] };
    await expect(rig.client.workflow.execute("sale", options)).rejects.toMatchObject({
      cause: { type: "InvalidInput" },
    });
    await expect(rig.client.workflow.execute("creditNote", options)).rejects.toMatchObject({
      cause: { type: "InvalidInput" },
    });
  });
});
