import { afterAll, beforeAll, expect, test } from "vitest";

import { createStarter, InvalidInputError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a sale whose stock needs an operator", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 1, resubmissionWindowMs: 50, callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig?.close());

  const { start, parked, result, movementsOf } = salesOf(() => rig);
  const { fiscalflow, report } = viewsOf(() => rig);

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

  test("refuses a repeated answer about a movement that was sent again, and is unknown again", async () => {
    const referenceId = "REPEATED-1/item_tea/sold";
    const match = { referenceId };
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 2, match });
    await start("REPEATED-1");
    const first = (await parked("REPEATED-1", "stock-unknown")).attentions[0]?.sinceMs ?? 0;
    const answer = () =>
      rig.starter.resolveStock({ invoice: "REPEATED-1" }, { ...match, applied: false, note: "not in the journal" });
    await answer();
    await rig.stateWhen("REPEATED-1", ({ attentions }) => attentions.some(({ sinceMs }) => sinceMs > first));
    await expect(answer()).rejects.toThrow(/^It was answered before, and is asked again since .*: look again/);
    const answered = () =>
      answer().then(
        () => "kept",
        () => "refused",
      );
    await expect.poll(answered).toBe("kept");
    expect(await result("REPEATED-1")).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf("REPEATED-1")).toHaveLength(1);
  });

  test("gives an answer that is sent again under its id the first reply, also once the sale is closed", async () => {
    const sale = { invoice: "ASKED-AGAIN-1" };
    const answer = { referenceId: "ASKED-AGAIN-1/item_tea/sold", applied: true, note: "seen in the journal" };
    const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId: answer.referenceId } });
    const handle = await start(sale.invoice, { refundWindow: "1 hour" });
    await parked(sale.invoice, "stock-unknown");
    const requestId = "case-17";
    const first = await rig.starter.resolveStock(sale, answer, { requestId });
    // The process that had asked is gone, and another one asks for it.
    const successor = createStarter({ client: rig.client, businesses: { default: "biz_1" }, identity: "successor" });
    const reordered = Object.fromEntries(Object.entries(answer).toReversed()) as typeof answer;
    const again = () => successor.resolveStock(sale, reordered, { requestId });
    expect(await again()).toEqual(first);
    expect(await successor.answer(sale, { update: "resolveStock", input: answer }, { requestId })).toEqual(first);
    const answeredBefore = /is applied: it was answered before\./;
    await expect(successor.resolveStock(sale, answer)).rejects.toThrow(answeredBefore);
    await expect(successor.resolveStock(sale, { ...answer, applied: false }, { requestId })).rejects.toThrow(
      answeredBefore,
    );
    expect((await rig.starter.getSale(sale)).decisions).toHaveLength(1);
    await handle.cancel();
    await result(sale.invoice);
    expect(await again()).toEqual(first);
    await expect(successor.retry(sale, {}, { requestId: "" })).rejects.toThrow(InvalidInputError);
  });

  test("keeps what the balance said where an operator decides against it, and shows it afterwards", async () => {
    const referenceId = "AGAINST-1/item_tea/sold";
    const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId } });
    await start("AGAINST-1");
    await parked("AGAINST-1", "stock-unknown");
    // Its answer has the first balance after the lost movement.
    await start("AGAINST-2");
    const spoken = await rig.stateWhen("AGAINST-1", ({ attentions }) =>
      attentions.some(({ evidence }) => evidence?.["balanceSpeaks"] === "for"),
    );
    const { laterQuantityOnHand, expectedIfApplied, expectedIfNot } = spoken.attentions[0]?.evidence ?? {};
    await rig.starter.resolveStock(
      { invoice: "AGAINST-1" },
      { referenceId, applied: false, note: "not in the journal", by: "njeri" },
    );
    const contradicts = { quantityOnHand: laterQuantityOnHand, ifApplied: expectedIfApplied, ifNot: expectedIfNot };
    expect(await result("AGAINST-1")).toMatchObject({
      stockMovements: [{ state: "applied", decision: { applied: false, contradicts } }],
    });
    const page = (await fiscalflow("sale", "show", "AGAINST-1")).stdout;
    expect(page.match(/against the balance: \d+ seen, \d+ expected if it was applied, \d+ if not/g)).toHaveLength(2);
    const { movements } = await report();
    expect(movements).toMatchObject([{ itemId: "item_tea", againstBalance: 1 }]);
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
    await rig.starter.acknowledge({ invoice: "STOCK-REFUSED-2" }, { code: "stock-refused", note: "booked by hand" });
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
