import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { businessWithPurchases, purchaseOf as purchase } from "../test-support/purchases.ts";

const test = ledgerOfSuite();

const business = () => businessWithPurchases(test.ledger);

describe("the purchase summary of a business", () => {
  it("does not merge suppliers without a PIN, nor count an empty error as an error", async () => {
    const { keep, scope } = business();
    const nobody = { supplier: { name: "Mill", pin: "" }, supplierInvoiceNumber: "S-1", confirmationError: "" };
    await keep([purchase("p1", nobody), purchase("p2", nobody)]);
    expect(await test.ledger.purchases.summary(scope, 10)).toMatchObject({
      confirmationErrors: { count: 0 },
      duplicates: { count: 0 },
    });
  });

  it("counts by status, and lists errors and invoices with two ids", async () => {
    const { keep, scope } = business();
    const twice = { supplier: { name: "Mill", pin: "P1" }, supplierInvoiceNumber: "S-1" };
    await keep([
      purchase("p1", twice),
      purchase("p2", { ...twice, status: "confirmed" }),
      purchase("p3", { ...twice, supplier: { name: "Other", pin: "P2" } }),
      purchase("p4", { status: "pending_review", confirmationError: "No such item" }),
    ]);
    expect(await test.ledger.purchases.summary(scope, 10)).toEqual({
      total: 4,
      byStatus: { pulled: 2, confirmed: 1, pending_review: 1 },
      confirmationErrors: {
        count: 1,
        first: [{ purchaseId: "p4", supplierInvoiceNumber: "S-p4", confirmationError: "No such item" }],
      },
      duplicates: {
        count: 1,
        first: [{ supplierPin: "P1", supplierInvoiceNumber: "S-1", purchaseIds: ["p1", "p2"] }],
      },
      missing: { count: 0, first: [] },
    });
  });
});
