import { afterAll, beforeAll, expect, test } from "vitest";

import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a refund", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { creditNotesOf, onHand, result, sold } = salesOf(() => rig);

  test("within the window issues one credit note with one call, and leaves the stock alone", async () => {
    const { sale } = await sold("WINDOW-1");
    const before = onHand("item_tea");
    rig.simulator.resetCalls();
    const refunded = await rig.starter.refund(
      { invoice: "WINDOW-1" },
      { reason: "06", traderInvoiceNumber: "CN-WINDOW-1" },
      { waitSeconds: 20 },
    );
    expect(refunded).toMatchObject({
      stage: "credited",
      creditNote: { type: "credit_note", originalSaleId: sale?.id, totals: { total: -700 } },
    });
    expect(await result("WINDOW-1")).toMatchObject({
      stage: "credited",
      creditNote: { receipt: { receiptLabel: "NC" } },
    });
    expect(await rig.starter.getSale({ invoice: "WINDOW-1" })).toMatchObject({ waitingFor: "nothing" });
    expect(creditNotesOf(sale?.id)).toHaveLength(1);
    expect(rig.simulator.books().calls.byOperation).toEqual({ creditNote: 1 });
    expect(onHand("item_tea")).toBe(before);
  });

  test("within the window is accepted at once, whatever becomes of its credit note", async () => {
    await sold("HELD-UP-1");
    const endTrouble = rig.simulator.inject(triggerFault("away", {}));
    const askedAtMs = Date.now();
    const request = { reason: "06", traderInvoiceNumber: "CN-HELD-UP-1" } as const;
    const accepted = await rig.starter.refund({ invoice: "HELD-UP-1" }, request);
    // A caller who does not say how long to wait gets an answer after 20 s.
    expect(Date.now() - askedAtMs).toBeLessThan(15_000);
    expect(accepted).toMatchObject({ stage: "crediting", refund: request });
    expect(accepted).not.toHaveProperty("creditNote");
    endTrouble();
    expect(await result("HELD-UP-1")).toMatchObject({ stage: "credited" });
  });

  test("returns the goods to stock if asked to, with one more call for each item", async () => {
    const before = onHand("item_tea");
    await sold("RESTOCK-1");
    rig.simulator.resetCalls();
    await rig.starter.refund(
      { invoice: "RESTOCK-1" },
      { reason: "03", traderInvoiceNumber: "CN-RESTOCK-1", restock: true },
    );
    const { stockMovements } = await result("RESTOCK-1");
    expect(stockMovements).toMatchObject([
      { action: "DEDUCT", state: "applied" },
      { action: "ADD", state: "applied", purpose: "restocked", undoes: stockMovements[0]?.referenceId },
    ]);
    expect(onHand("item_tea")).toBe(before);
    // The branches are read once for each process, so that goods go back by name.
    expect(rig.simulator.books().calls.byOperation).toEqual({ creditNote: 1, adjustStock: 1, listBusinesses: 1 });
  });

  test("asked for twice is one credit note; with another number it is refused", async () => {
    const { sale } = await sold("TWICE-1");
    const request = { reason: "06", traderInvoiceNumber: "CN-TWICE-1" } as const;
    await Promise.all([
      rig.starter.refund({ invoice: "TWICE-1" }, request),
      rig.starter.refund({ invoice: "TWICE-1" }, request),
    ]);
    await expect(
      rig.starter.refund({ invoice: "TWICE-1" }, { reason: "06", traderInvoiceNumber: "CN-TWICE-2", restock: true }),
    ).rejects.toMatchObject({ code: "Conflict", fields: ["traderInvoiceNumber", "restock"] });
    await result("TWICE-1");
    expect(await rig.starter.refund({ invoice: "TWICE-1" }, request)).toMatchObject({ stage: "credited" });
    await expect(
      rig.starter.refund({ invoice: "TWICE-1" }, { reason: "06", traderInvoiceNumber: "CN-TWICE-2" }),
    ).rejects.toThrow("CN-TWICE-1");
    expect(creditNotesOf(sale?.id)).toHaveLength(1);
  });

  test("after the window is a new run of the sale, and returns what the sale took", async () => {
    const before = onHand("item_tea");
    const { sale } = await sold("AFTER-1", { refundWindow: "0" });
    await result("AFTER-1");
    const request = { reason: "06", traderInvoiceNumber: "CN-AFTER-1", restock: true } as const;
    const refunded = await rig.starter.refund({ invoice: "AFTER-1" }, request, { waitSeconds: 20 });
    expect(refunded).toMatchObject({ stage: "credited", creditNote: { originalSaleId: sale?.id } });
    expect(refunded).toMatchObject({ sale: { id: sale?.id } });
    expect(refunded.receipt).toEqual(refunded.sale?.receipt);
    expect(refunded.receipt).not.toEqual(refunded.creditNote?.receipt);
    expect(await result("AFTER-1")).toMatchObject({
      stage: "credited",
      stockMovements: [
        { purpose: "sold", state: "applied" },
        { purpose: "restocked", state: "applied" },
      ],
    });
    expect(await rig.starter.refund({ invoice: "AFTER-1" }, request)).toMatchObject({ stage: "credited" });
    await expect(
      rig.starter.refund({ invoice: "AFTER-1" }, { reason: "05", traderInvoiceNumber: "CN-AFTER-1" }),
    ).rejects.toMatchObject({ code: "Conflict", fields: ["reason", "restock"] });
    expect(creditNotesOf(sale?.id)).toHaveLength(1);
    expect(onHand("item_tea")).toBe(before);
  });
});
