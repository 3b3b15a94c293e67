import { afterAll, beforeAll, expect, test } from "vitest";

import {
  MAIN_TASK_QUEUE,
  type SyncBillPaymentsInput,
  type SyncBillPaymentsOutcome,
  syncBillPaymentsWorkflowId,
} from "../../src/contract/index.ts";
import type { KeptObservation } from "../../src/ledger/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { purchaseOf, syncsOf } from "../rig/purchases.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const PAYMENTS = 120;

/** A row that does not fit is left out, reported, and hides nothing. */
describeWithTemporal("a list with a row that does not fit the schema", () => {
  let rig: Rig;
  beforeAll(async () => {
    const purchases = Array.from({ length: 6 }, (_, n) => purchaseOf(n, n < 2 ? { status: "pulled" } : {}));
    const scenario = { purchases, accounting: { generatedBillPayments: PAYMENTS } };
    rig = await startRig({ accounting: true, receiver: false, simulator: { scenario } });
  });
  afterAll(() => rig?.close());

  const { start, parked, result } = salesOf(() => rig);
  const { sync } = syncsOf(() => rig);

  async function observed(subject: string): Promise<KeptObservation | undefined> {
    return (await rig.ledger.observations.list(1)).find((one) => one.subject === subject);
  }

  test("of items holds up only the sale of that item, which names the field and goes on once the row is corrected", async () => {
    rig.simulator.showOddly("item_flour", { stockTracked: "yes" });
    await start("GOOD-1");
    expect(await result("GOOD-1")).toMatchObject({ stage: "completed" });
    await start("ODD-1", { lines: [{ itemId: "item_flour", quantity: 1, unitPrice: 210 }] });
    const [attention] = (await parked("ODD-1", "item-unknown")).attentions;
    expect(attention?.message).toMatch(/itemId "item_flour".*"stockTracked".*expected boolean/);
    await expect
      .poll(() => observed("items: stockTracked"))
      .toMatchObject({
        kind: "odd-row",
        message: expect.stringContaining('the first is "item_flour"'),
      });
    expect(rig.logged.filter(({ fields }) => fields["subject"] === "items: stockTracked")).toHaveLength(1);
    rig.simulator.showOddly("item_flour", null);
    expect(await result("ODD-1")).toMatchObject({ stage: "completed" });
  });

  test("of purchases loses no other row, and marks none as gone", async () => {
    const { id } = purchaseOf(3);
    rig.simulator.showOddly(purchaseOf(5).id, { totals: "116" });
    expect(await sync({ full: true })).toMatchObject({ total: 5, leftOut: 1 });
    rig.simulator.showOddly(id, { lines: [{ quantity: "one" }] });
    expect(await sync({ full: true })).toMatchObject({ total: 5, findings: { missing: { count: 0 } } });
    rig.simulator.showOddly(id, { id: null });
    rig.simulator.removePurchase(purchaseOf(4).id);
    // The row without an id could be either.
    expect(await sync({ full: true })).toMatchObject({ total: 5, findings: { missing: { count: 0 } } });
    rig.simulator.showOddly(id, null);
    expect(await sync({ full: true })).toMatchObject({ total: 4, findings: { missing: { count: 1 } } });
    rig.simulator.showOddly(purchaseOf(5).id, null);
    const outcome = await sync({ full: true });
    expect(outcome).toMatchObject({ total: 5, added: 1 });
    expect(outcome).not.toHaveProperty("leftOut");
    expect(await observed("purchases: totals")).toMatchObject({ kind: "odd-row", businessId: "biz_1" });
    expect(await observed("purchases: lines[].description")).toBeUndefined();
  });

  test("of bill payments completes with the readable rows, and marks none as gone", async () => {
    const sync = async (input: SyncBillPaymentsInput): Promise<SyncBillPaymentsOutcome> => {
      const options = { workflowId: syncBillPaymentsWorkflowId("default"), taskQueue: MAIN_TASK_QUEUE };
      const handle = await rig.client.workflow.start("syncBillPayments", { ...options, args: [input] });
      return (await handle.result()) as SyncBillPaymentsOutcome;
    };
    const { accounting } = rig.simulator;
    accounting.showOddly("bp_0000007", { totalAmount: "a lot" });
    expect(await sync({ full: true })).toMatchObject({ settled: true, round: 1, total: PAYMENTS - 1, missing: 0 });
    expect(await sync({})).toMatchObject({ kind: "recent", settled: true, total: PAYMENTS - 1 });
    // Known from before, and odd now.
    accounting.showOddly("bp_0000008", { lines: {} });
    expect(await sync({ full: true })).toMatchObject({ settled: true, round: 1, total: PAYMENTS - 1, missing: 0 });
    accounting.showOddly("bp_0000008", { id: 8 });
    accounting.removeBillPayment("bp_0000009");
    // The row without an id could be either.
    expect(await sync({ full: true })).toMatchObject({ settled: false, total: PAYMENTS - 1, missing: 0 });
    accounting.showOddly("bp_0000007", null);
    accounting.showOddly("bp_0000008", null);
    expect(await sync({ full: true })).toMatchObject({ settled: true, total: PAYMENTS - 1, missing: 1 });
    expect(await observed("bill payments: totalAmount")).toMatchObject({ service: "accounting", kind: "odd-row" });
  });
});
