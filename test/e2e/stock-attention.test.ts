import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale whose stock needs an operator", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 1, resubmissionWindowMs: 50, callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig?.close());

  const { start, parked, result, movementsOf } = salesOf(() => rig);

  test("because a movement's outcome is unknown waits for an operator, while the document goes on", async () => {
    const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId: "STOCK-UNKNOWN-1/item_tea/sold" } });
    await start("STOCK-UNKNOWN-1");
    const state = await parked("STOCK-UNKNOWN-1", "stock-unknown");
    expect(state).toMatchObject({
      stage: "completed",
      document: { status: "completed" },
      stockMovements: [{ state: "unknown" }],
    });
    const [attention] = state.attentions;
    expect(attention).toMatchObject({
      subject: "STOCK-UNKNOWN-1/item_tea/sold",
      evidence: { itemId: "item_tea", quantity: 2, sentAtMs: expect.any(Number), cameBack: expect.any(String) },
    });
    await expect(
      rig.starter.resolveStock({ invoice: "STOCK-UNKNOWN-1" }, { referenceId: "else", applied: true, note: "x" }),
    ).rejects.toThrow("STOCK-UNKNOWN-1/item_tea/sold");
    await rig.starter.resolveStock(
      { invoice: "STOCK-UNKNOWN-1" },
      { referenceId: attention?.subject ?? "", applied: true, note: "seen in the journal", by: "njeri" },
    );
    expect(await result("STOCK-UNKNOWN-1")).toMatchObject({
      stockMovements: [{ state: "applied", decision: { applied: true, by: "njeri" } }],
    });
    expect(movementsOf("STOCK-UNKNOWN-1")).toHaveLength(1);
  });

  test("sends a movement again, under the same reference, once an operator says that it was not applied", async () => {
    rig.simulator.inject({
      operation: "adjustStock",
      when: "before",
      kind: "drop",
      times: 1,
      match: { referenceId: "STOCK-UNKNOWN-2/item_tea/sold" },
    });
    await start("STOCK-UNKNOWN-2");
    await parked("STOCK-UNKNOWN-2", "stock-unknown");
    expect(movementsOf("STOCK-UNKNOWN-2")).toEqual([]);
    await rig.starter.resolveStock(
      { invoice: "STOCK-UNKNOWN-2" },
      { referenceId: "STOCK-UNKNOWN-2/item_tea/sold", applied: false, note: "not in the journal" },
    );
    expect(await result("STOCK-UNKNOWN-2")).toMatchObject({
      stockMovements: [{ state: "applied", movementId: expect.any(String) }],
    });
    expect(movementsOf("STOCK-UNKNOWN-2")).toHaveLength(1);
  });

  test("because a movement was refused can have it tried again or given up", async () => {
    const refused = {
      operation: "adjustStock",
      when: "before",
      kind: "status",
      status: 422,
      body: { error: { code: "stock_locked", message: "stocktaking" } },
      times: 1,
    } as const;
    rig.simulator.inject({ ...refused, match: { referenceId: "STOCK-REFUSED-1/item_tea/sold" } });
    rig.simulator.inject({ ...refused, match: { referenceId: "STOCK-REFUSED-2/item_tea/sold" } });
    await start("STOCK-REFUSED-1");
    await start("STOCK-REFUSED-2");
    expect((await parked("STOCK-REFUSED-1", "stock-refused")).attentions[0]?.message).toContain("stocktaking");
    await parked("STOCK-REFUSED-2", "stock-refused");
    await rig.starter.retry({ invoice: "STOCK-REFUSED-1" });
    const word = { code: "stock-refused", note: "booked by hand" } as const;
    const mistyped = { ...word, subject: "STOCK-REFUSED-1/item_tea/sold" };
    await expect(rig.starter.acknowledge({ invoice: "STOCK-REFUSED-2" }, mistyped)).rejects.toThrow(
      "That subject is not among: STOCK-REFUSED-2/item_tea/sold.",
    );
    await rig.starter.acknowledge({ invoice: "STOCK-REFUSED-2" }, word);
    expect(await result("STOCK-REFUSED-1")).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(await result("STOCK-REFUSED-2")).toMatchObject({
      stage: "completed",
      stockMovements: [{ state: "dropped" }],
    });
    expect(movementsOf("STOCK-REFUSED-2")).toEqual([]);
  });

  test.each([
    ["unknown", { kind: "drop" }],
    ["refused", { kind: "status", status: 422, body: { error: { code: "stock_locked", message: "stocktaking" } } }],
  ] as const)("waits for the authority alone once its only movement is %s", async (state, fault) => {
    const invoice = `STAGE-${state}`;
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const match = { referenceId: `${invoice}/item_tea/sold` };
    rig.simulator.inject({ operation: "adjustStock", when: "before", times: 1, match, ...fault });
    await start(invoice);
    expect(await parked(invoice, `stock-${state}`)).toMatchObject({
      stage: "awaiting-authority",
      stockMovements: [{ state }],
    });
    if (state === "refused") await rig.starter.retry({ invoice });
    else await rig.starter.resolveStock({ invoice }, { ...match, applied: false, note: "not in the journal" });
    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(movementsOf(invoice)).toHaveLength(1);
  });

  test("because a movement's report is not ok shows it, and the movement is never repeated", async () => {
    rig.simulator.addItem({
      id: "item_unreported",
      businessId: "biz_1",
      name: "Unreported",
      unitPrice: 5,
      fiscalReport: { stockIo: "error", stockMaster: "ok" },
    });
    await start("UNREPORTED-1", { lines: [{ itemId: "item_unreported", quantity: 1, unitPrice: 5 }] });
    await parked("UNREPORTED-1", "stock-unreported");
    await rig.starter.acknowledge({ invoice: "UNREPORTED-1" }, { code: "stock-unreported", note: "reported by hand" });
    expect(await result("UNREPORTED-1")).toMatchObject({
      stockMovements: [{ state: "applied", report: { stockIo: "error" } }],
    });
    expect(movementsOf("UNREPORTED-1")).toHaveLength(1);
  });
});
