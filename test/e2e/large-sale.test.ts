import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleOutcome } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { goods, mostAtOnce } from "../rig/goods.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const LINES = 50;
const MOST_AT_ONCE = 5;

describeWithTemporal("a sale of many stock-tracked items", () => {
  const items = goods(LINES);
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, simulator: { latencyMs: 20, scenario: { items } } });
  });
  afterAll(() => rig?.close());

  test("moves each of them once, a few at a time, so that other sales do not wait behind all of them", async () => {
    const lines = items.map(({ id }) => ({ itemId: id, quantity: 2, unitPrice: 100 }));
    const { workflowId } = await rig.starter.startSale({ traderInvoiceNumber: "LARGE-1", lines, refundWindow: "0" });
    const handle = rig.client.workflow.getHandle(workflowId);
    const { stockMovements } = (await handle.result()) as SaleOutcome;
    expect(stockMovements.map(({ state }) => state)).toEqual(items.map(() => "applied"));
    expect(rig.callsOf("LARGE-1").filter((operation) => operation === "adjustStock")).toHaveLength(LINES);
    expect(mostAtOnce((await handle.fetchHistory()).events ?? [], "adjustStock")).toBe(MOST_AT_ONCE);
  });
});
