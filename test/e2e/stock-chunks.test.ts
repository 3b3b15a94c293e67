import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { countOf, goods, largeSalesOf, takenOf } from "../rig/goods.ts";
import { resetRun } from "../rig/reset-run.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const ITEMS = 20;
const CHUNK = 8;
/** So many of a chunk have left when something happens to it. */
const LEFT = 4;

describeWithTemporal("the stock movements of a sale of many items", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      timings: { movementChunk: CHUNK, callTimeoutMs: 20_000, resubmissions: 0 },
      simulator: { latencyMs: 5, scenario: { items: goods(ITEMS) } },
    });
  });
  afterAll(() => rig?.close());

  const { start, handleOf, chunks, runningChunk, booked, onHand } = largeSalesOf(() => rig, ITEMS);
  /** The answer to one movement waits, so that its chunk is under way. */
  const slow = (referenceId: string, delayMs = 3_000) =>
    rig.simulator.inject({
      operation: "adjustStock",
      when: "after",
      kind: "slow",
      delayMs,
      times: 1,
      match: { referenceId },
    });
  /** The last of those that leave. */
  const slowLast = (invoice: string, delayMs?: number): string => {
    const referenceId = takenOf(invoice, LEFT - 1);
    slow(referenceId, delayMs);
    return referenceId;
  };
  const expectOnceEach = (number: string, count = ITEMS): void => {
    expect([...booked(number).values()]).toEqual(Array.from({ length: count }, () => 1));
  };
  const refund = (invoice: string) => {
    const request = { reason: "06", traderInvoiceNumber: `CN-${invoice}`, restock: true } as const;
    return rig.starter.refund({ invoice }, request, { waitSeconds: 20 });
  };

  test("are sent in chunks, one after the other, and the few that are left by the sale itself", async () => {
    const before = onHand();
    const { stockMovements, stage } = await (await start("WHOLE-1")).result();
    expect(stage).toBe("completed");
    expect(countOf(stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("WHOLE-1");
    expect(onHand()).toEqual(before.map((quantity) => (quantity ?? 0) - 2));
    const events = (await handleOf("WHOLE-1").fetchHistory()).events ?? [];
    const started = events.filter((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
    expect(started).toHaveLength(Math.floor(ITEMS / CHUNK));
    const ownTries = events.filter(
      ({ activityTaskScheduledEventAttributes: task }) => task?.activityType?.name === "adjustStock",
    );
    expect(ownTries).toHaveLength(ITEMS % CHUNK);
    await expect
      .poll(async () => (await chunks("WHOLE-1")).map(({ status }) => status))
      .toEqual(started.map(() => "COMPLETED"));
  });

  test("show as being sent while their chunk is under way", async () => {
    slow(takenOf("SHOWN-1", 0), 1_500);
    const handle = await start("SHOWN-1");
    const sending = await rig.stateWhen("SHOWN-1", ({ stockMovements }) => countOf(stockMovements, "sending") > 0);
    expect(countOf(sending.stockMovements, "sending")).toBe(CHUNK);
    expect(sending.stockMovements[0]).toMatchObject({ state: "sending", sentAtMs: expect.any(Number) });
    await handle.result();
    expectOnceEach("SHOWN-1");
  });

  test("of a refund go back in chunks too, each once", async () => {
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
    slowLast("UNDONE-1");
    const handle = await start("UNDONE-1");
    await rig.simulator.until(() => booked("UNDONE-1").size === LEFT);
    await rig.starter.cancel({ invoice: "UNDONE-1" }, { reason: "the customer left" });
    rig.simulator.setAuthority("UNDONE-1", [{ do: "reject", reason: "no" }]);
    const { stage, stockMovements } = await handle.result();
    expect(stage).toBe("cancelled");
    const sold = stockMovements.filter(({ purpose }) => purpose === "sold");
    // What had left came back, and what had not was never sent.
    expect(countOf(sold, "applied")).toBe(LEFT);
    expect(countOf(sold, "dropped")).toBe(ITEMS - LEFT);
    expect(stockMovements.filter(({ purpose }) => purpose === "undone")).toHaveLength(LEFT);
    expectOnceEach("UNDONE-1", 2 * LEFT);
    expect(onHand()).toEqual(before);
  });

  test("of a chunk that a person terminates are looked up: nothing is sent twice, and what is not known is shown", async () => {
    const unknown = slowLast("CUT-1", 6_000);
    const handle = await start("CUT-1");
    await rig.simulator.until(() => booked("CUT-1").size === LEFT);
    await rig.client.workflow.getHandle(await runningChunk("CUT-1")).terminate("by mistake");
    const state = await rig.stateWhen(
      "CUT-1",
      ({ stockMovements }) => countOf(stockMovements, "applied") === ITEMS - 1,
    );
    expect(state.attentions).toMatchObject([
      { code: "stock-unknown", subject: unknown, message: expect.stringContaining("move-stock/default/biz_1/CUT-1/") },
    ]);
    // Its answer comes all the same, and turns up in the claim.
    const { stockMovements } = await handle.result();
    expect(countOf(stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("CUT-1");
  });

  test("of a chunk that a person cancels are sent by another one", async () => {
    slow(takenOf("PAUSED-1", 0), 1_500);
    const handle = await start("PAUSED-1");
    await rig.simulator.until(() => booked("PAUSED-1").size >= 1);
    await rig.client.workflow.getHandle(await runningChunk("PAUSED-1")).cancel();
    expect(countOf((await handle.result()).stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("PAUSED-1");
  });

  test("of a sale that is terminated in the middle come to their claims, and the next run takes them over", async () => {
    slowLast("ENDED-1");
    const handle = await start("ENDED-1");
    await rig.simulator.until(() => booked("ENDED-1").size === LEFT);
    const chunk = await runningChunk("ENDED-1");
    await handle.terminate("by mistake");
    await rig.client.workflow.getHandle(chunk).result();
    expect(booked("ENDED-1").size).toBe(LEFT);
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice: "ENDED-1" }));
    expect(countOf((await handleOf("ENDED-1").result()).stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("ENDED-1");
  });

  test("of a sale that is reset in the middle of a chunk are sent once", async () => {
    slowLast("RESET-1");
    await start("RESET-1");
    await rig.simulator.until(() => booked("RESET-1").size === LEFT);
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice: "RESET-1" }));
    expect(countOf((await handleOf("RESET-1").result()).stockMovements, "applied")).toBe(ITEMS);
    expectOnceEach("RESET-1");
  });
});
