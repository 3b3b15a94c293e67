import { describe, expect, test } from "vitest";
import {
  at,
  call,
  codeOf,
  creditNote,
  saleId,
  simulatorUnderTest,
  teaSale,
} from "./test-support/simulator-under-test.ts";

describe("a credit note", () => {
  test("copies the sale with negative quantities and amounts and names the reversed receipt", async () => {
    const simulator = await simulatorUnderTest();
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") });
    const note = await call(simulator, "POST", "/v1/credit-notes", { body: creditNote(saleId(sale)) });
    expect(note.status).toBe(201);
    expect(at(note.body, "data", "sale")).toMatchObject({
      type: "credit_note",
      saleDate: "2025-03-02",
      customer: { name: "Achieng" },
      lines: [
        {
          itemId: "item_tea",
          quantity: -2,
          unitPrice: 350,
          total: -700,
          taxableAmount: -603.45,
          taxAmount: -96.55,
          taxRate: 16,
        },
      ],
      totals: { total: -700, taxableAmount: -603.45, taxAmount: -96.55 },
      originalSaleId: saleId(sale),
      receipt: { receiptLabel: "NC", originalCuInvoiceNo: at(sale.body, "data", "sale", "receipt", "cuInvoiceNo") },
    });
  });

  test("is the only one of its sale", async () => {
    const simulator = await simulatorUnderTest();
    const sale = saleId(await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") }));
    const first = await call(simulator, "POST", "/v1/credit-notes", { body: creditNote(sale) });
    const second = await call(simulator, "POST", "/v1/credit-notes", { body: creditNote(sale, "CN-2") });
    expect(second.status).toBe(422);
    expect(at(second.body, "error")).toMatchObject({ code: "already_credited", creditNoteId: saleId(first) });
  });

  test("needs an accepted sale and a known reason", async () => {
    const simulator = await simulatorUnderTest({ scenario: { authority: { default: { do: "down" } } } });
    const sale = saleId(await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") }));
    const early = await call(simulator, "POST", "/v1/credit-notes", { body: creditNote(sale) });
    expect([early.status, codeOf(early)]).toEqual([422, "sale_not_completed"]);
    const unknown = await call(simulator, "POST", "/v1/credit-notes", { body: creditNote("sale_none") });
    expect(unknown.status).toBe(404);
    const wrong = await call(simulator, "POST", "/v1/credit-notes", { body: { ...creditNote(sale), reason: "07" } });
    expect(wrong.status).toBe(400);
  });
});
