import { afterAll, beforeAll, expect, test } from "vitest";

import { createStarter, InvalidInputError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a sale whose stock an operator decides", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 1, resubmissionWindowMs: 50, callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig?.close());

  const { start, parked, result, movementsOf } = salesOf(() => rig);
  const { fiscalflow, report, recordedInLedger } = viewsOf(() => rig);

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
    // Its answer has the balance before the lost movement.
    await (await start("AGAINST-0")).result();
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

  test.each([true, false])(
    "at its refund, after it was terminated, is shown so everywhere: applied %s",
    async (applied) => {
      const invoice = `AT-REFUND-${applied}`;
      const referenceId = `${invoice}/item_tea/sold`;
      const lost = { operation: "adjustStock", when: applied ? "after" : "before", kind: "drop", times: 1 } as const;
      rig.simulator.inject({ ...lost, match: { referenceId } });
      const itemOf = async () => (await report()).movements.find(({ itemId }) => itemId === "item_tea");
      const before = await itemOf();
      const handle = await start(invoice, { refundWindow: "1 hour" });
      await parked(invoice, "stock-unknown");
      await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
      await handle.terminate("by mistake");
      await recordedInLedger("terminated", invoice);
      const request = { reason: "06", traderInvoiceNumber: `CN-${invoice}`, restock: true } as const;
      await rig.starter.refund({ invoice }, request, { waitSeconds: 20 });
      await parked(invoice, "stock-unknown");
      await rig.starter.resolveStock({ invoice }, { referenceId, applied, note: "looked", by: "njeri" });
      expect(await result(invoice)).toMatchObject({ stage: "credited" });

      const after = await itemOf();
      const more = (figure: "taken" | "givenBack" | "unknown") =>
        Number(after?.[figure]) - Number(before?.[figure] ?? 0);
      // What was not taken is taken then, and goes back too.
      expect([more("taken"), more("givenBack"), more("unknown")]).toEqual([2, 2, 0]);
      const state = await rig.starter.getSale({ invoice });
      expect(state.attentions).toEqual([]);
      expect(state.stockMovements).toMatchObject([
        { referenceId, state: "applied", decision: { applied, note: "looked", by: "njeri" } },
        { purpose: "restocked", state: "applied", undoes: referenceId },
      ]);
      const page = (await fiscalflow("sale", "show", invoice)).stdout;
      expect(page).toMatch(
        applied
          ? /DEDUCT 2 of item_tea, applied \(decided: looked\)/
          : /DEDUCT 2 of item_tea, applied \(.*; sent again after the decision 'not applied': looked\)/,
      );
      expect(movementsOf(invoice)).toHaveLength(1);
    },
  );
});
