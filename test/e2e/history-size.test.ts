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

  async function started(traderInvoiceNumber: string, more: Partial<SaleInput>, wait: { waitSeconds?: number } = {}) {
    const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
    const sale = { traderInvoiceNumber, lines, refundWindow: "0", ...more };
    const { workflowId } = await (wait.waitSeconds
      ? rig.starter.startSaleAndWait(sale, wait)
      : rig.starter.startSale(sale));
    const handle = rig.client.workflow.getHandle(workflowId);
    await handle.result();
    return handle;
  }
  async function historyOf(traderInvoiceNumber: string, more: Partial<SaleInput> = {}) {
    return (await (await started(traderInvoiceNumber, more)).fetchHistory()).events ?? [];
  }
  const eventsOf = async (...sale: Parameters<typeof historyOf>): Promise<number> => (await historyOf(...sale)).length;

  const tasksIn = (events: Awaited<ReturnType<typeof historyOf>>): number =>
    events.filter(({ workflowTaskCompletedEventAttributes: task }) => task).length;

  /** How long the authority takes; the callback comes then. */
  const inFlight = (invoice: string): void => rig.simulator.setAuthority(invoice, [{ do: "accept", afterMs: 800 }]);
  const WINDOW = { refundWindow: "1s" };

  test("has 25 events and 4 workflow tasks when it is accepted at once, and 30 and 5 with a refund window", async () => {
    const events = await historyOf("ACCEPTED-1", { callback: "off" });
    expect([events.length, tasksIn(events)]).toEqual([25, 4]);
    const open = await historyOf("ACCEPTED-2", { callback: "off", ...WINDOW });
    expect([open.length, tasksIn(open)]).toEqual([30, 5]);
  });

  test("has 39 events and 6 workflow tasks when it is in flight until its callback, and 44 and 7 with a refund window", async () => {
    inFlight("CALLBACK-1");
    const events = await historyOf("CALLBACK-1");
    expect([events.length, tasksIn(events)]).toEqual([39, 6]);
    inFlight("CALLBACK-2");
    const open = await historyOf("CALLBACK-2", WINDOW);
    expect([open.length, tasksIn(open)]).toEqual([44, 7]);
  });

  test("has at most 7 events and 1 workflow task more for a caller who waits", async () => {
    /** Of the shortest of three: on a busy machine what belongs to one workflow task may come in two. */
    const waited = async (invoice: string, begin: (invoice: string) => void, more: Partial<SaleInput> = {}) => {
      const sizes: [events: number, tasks: number][] = [];
      for (const each of [1, 2, 3]) {
        begin(`${invoice}-${each}`);
        const handle = await started(`${invoice}-${each}`, more, { waitSeconds: 20 });
        const events = (await handle.fetchHistory()).events ?? [];
        sizes.push([events.length, tasksIn(events)]);
      }
      return sizes.toSorted(([a], [b]) => a - b)[0] ?? [0, 0];
    };
    const [events, tasks] = await waited("WAITED-1", () => undefined, { callback: "off" });
    expect(events).toBeLessThanOrEqual(25 + 7);
    expect(tasks).toBeLessThanOrEqual(4 + 1);
    const [flownEvents, flownTasks] = await waited("WAITED-2", inFlight);
    expect(flownEvents).toBeLessThanOrEqual(39 + 7);
    expect(flownTasks).toBeLessThanOrEqual(6 + 1);
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
