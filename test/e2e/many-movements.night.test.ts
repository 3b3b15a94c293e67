import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { countOf, goods, largeSalesOf, mostAtOnce, takenOf } from "../rig/goods.ts";
import { resetRun } from "../rig/reset-run.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const ITEMS = 20;
/** So many are sent at once. */
const MOST_AT_ONCE = 5;

describeWithTemporal("the stock movements of a sale of many items", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      timings: { callTimeoutMs: 20_000, resubmissions: 0 },
      simulator: { latencyMs: 5, scenario: { items: goods(ITEMS) } },
    });
  });
  afterAll(() => rig?.close());

  const { start, handleOf, booked, onHand } = largeSalesOf(() => rig, ITEMS);
  /** The answers to the first ones wait, and all others behind them. */
  const slowFirst = (invoice: string, delayMs = 3_000): void => {
    const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs, times: 1 } as const;
    for (let n = 0; n < MOST_AT_ONCE; n += 1)
      rig.simulator.inject({ ...slow, match: { referenceId: takenOf(invoice, n) } });
  };
  const expectOnceEach = (number: string, count = ITEMS): void => {
    expect([...booked(number).values()]).toEqual(Array.from({ length: count }, () => 1));
  };
  const refund = (invoice: string) => {
    const request = { reason: "06", traderInvoiceNumber: `CN-${invoice}`, restock: true } as const;
    return rig.starter.refund({ invoice }, request, { waitSeconds: 20 });
  };

  test("are sent a few at a time, each once", async () => {
    const before = onHand();
    const { stockMovements, stage } = await (await start("WHOLE-1")).result();
    expect(stage).toBe("completed");
    expect(countOf(stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("WHOLE-1");
    expect(onHand()).toEqual(before.map((quantity) => (quantity ?? 0) - 2));
    expect(mostAtOnce((await handleOf("WHOLE-1").fetchHistory()).events ?? [], "adjustStock")).toBe(MOST_AT_ONCE);
  });

  test("show as planned behind those that are being sent", async () => {
    slowFirst("SHOWN-1", 1_500);
    const handle = await start("SHOWN-1");
    const { stockMovements } = await rig.stateWhen(
      "SHOWN-1",
      (one) => countOf(one.stockMovements, "sending") === MOST_AT_ONCE,
    );
    expect(stockMovements[0]).toMatchObject({ state: "sending", sentAtMs: expect.any(Number) });
    expect(countOf(stockMovements, "planned")).toBe(ITEMS - MOST_AT_ONCE);
    await handle.result();
    expectOnceEach("SHOWN-1");
  });

  test("of a refund go back, each once", async () => {
    const before = onHand();
    const handle = await start("REFUNDED-1", { refundWindow: "1 hour" });
    await rig.stateWhen("REFUNDED-1", ({ stockMovements }) => countOf(stockMovements, "applied") === ITEMS);
    await refund("REFUNDED-1");
    const { stage, stockMovements } = await handle.result();
    expect(stage).toBe("credited");
    expect(countOf(stockMovements, "applied")).toBe(2 * ITEMS);
    expectOnceEach("REFUNDED-1");
    expectOnceEach("CN-REFUNDED-1");
    expect(onHand()).toEqual(before);
  });

  test("of a sale that is cancelled in the middle are given back exactly", async () => {
    const before = onHand();
    rig.simulator.setAuthority("UNDONE-1", [{ do: "down" }]);
    slowFirst("UNDONE-1");
    const handle = await start("UNDONE-1");
    await rig.simulator.until(() => booked("UNDONE-1").size === MOST_AT_ONCE);
    await rig.starter.cancel({ invoice: "UNDONE-1" }, { reason: "the customer left" });
    rig.simulator.setAuthority("UNDONE-1", [{ do: "reject", reason: "no" }]);
    const { stage, stockMovements } = await handle.result();
    expect(stage).toBe("cancelled");
    const sold = stockMovements.filter(({ purpose }) => purpose === "sold");
    // What had left came back, and what had not was never sent.
    expect(countOf(sold, "applied")).toBe(MOST_AT_ONCE);
    expect(countOf(sold, "dropped")).toBe(ITEMS - MOST_AT_ONCE);
    expect(stockMovements.filter(({ purpose }) => purpose === "undone")).toHaveLength(MOST_AT_ONCE);
    expectOnceEach("UNDONE-1", 2 * MOST_AT_ONCE);
    expect(onHand()).toEqual(before);
  });

  test("of a sale that is terminated in the middle settle their claims, and the next run takes them over", async () => {
    slowFirst("ENDED-1");
    const handle = await start("ENDED-1");
    await rig.simulator.until(() => booked("ENDED-1").size === MOST_AT_ONCE);
    await handle.terminate("by mistake");
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice: "ENDED-1" }));
    expect(countOf((await handleOf("ENDED-1").result()).stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("ENDED-1");
  });

  test("of a sale that is reset in the middle are sent once", async () => {
    slowFirst("RESET-1");
    await start("RESET-1");
    await rig.simulator.until(() => booked("RESET-1").size === MOST_AT_ONCE);
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice: "RESET-1" }));
    expect(countOf((await handleOf("RESET-1").result()).stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("RESET-1");
  });
});
