import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleOutcome } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { movementsOf, sell } = salesOf(() => rig);

  test("with several lines of one tracked item moves its stock once, at the weighted price", async () => {
    const lines = [
      { itemId: "item_flour", quantity: 0.1, unitPrice: 200 },
      { externalId: "ext-flour", quantity: 0.2, unitPrice: 230 },
      { itemId: "item_delivery", quantity: 1, unitPrice: 200 },
    ];
    const outcome = await sell("MERGED-1", { lines });
    expect(outcome.stockMovements).toMatchObject([{ itemId: "item_flour", quantity: 0.3, unitPrice: 220 }]);
    expect(outcome.sale?.lines).toHaveLength(3);
    expect(movementsOf("MERGED-1")).toMatchObject([{ quantity: 0.3, unitPrice: 220 }]);
  });

  test("that was issued elsewhere is adopted, without a create request and without a stock movement", async () => {
    const issued = rig.simulator.issueSale({
      businessId: "biz_1",
      traderInvoiceNumber: "ELSEWHERE-1",
      lines: [TEA],
      status: "completed",
    });
    const outcome = await sell("ELSEWHERE-1", { saleId: issued.id });
    expect(outcome).toMatchObject({ stage: "completed", sale: { id: issued.id }, stockMovements: [] });
    expect(rig.callsOf("ELSEWHERE-1")).toEqual(["readSale"]);
  });

  test("that adopts a sale with another number fails as bad input, and its number stays free", async () => {
    const issued = rig.simulator.issueSale({ businessId: "biz_1", traderInvoiceNumber: "OTHER-1", lines: [TEA] });
    await expect(sell("ADOPTING-1", { saleId: issued.id })).rejects.toThrow(
      "traderInvoiceNumber: expected ADOPTING-1, found OTHER-1",
    );
    expect(await sell("ADOPTING-1")).toMatchObject({ stage: "completed" });
  });

  test("with an unexpected total is signed all the same, and shown until an operator acknowledges it", async () => {
    const outcome = await sell("TOTAL-1", { expectedTotal: 700.02 });
    expect(outcome).toMatchObject({ stage: "completed", attention: { code: "mismatch" } });
    expect(outcome.attention?.message).toContain("expected 700.02, found 700");
    await rig.starter.acknowledge({ invoice: "TOTAL-1" }, { code: "mismatch", note: "rounding of the till" });
    const result = (await rig.client.workflow
      .getHandle(rig.starter.workflowId({ invoice: "TOTAL-1" }))
      .result()) as SaleOutcome;
    expect(result.attention).toBeUndefined();
    expect(await sell("TOTAL-2", { expectedTotal: 700.01 })).not.toHaveProperty("attention");
  });

  test("names its branch by either of its names, and sends what the dialect wants", async () => {
    const outcome = await sell("BRANCH-1", { branch: "01" });
    expect(outcome).toMatchObject({ stage: "completed", stockMovements: [{ branchId: "branch_2" }] });
    expect(rig.simulator.documents("BRANCH-1")).toMatchObject([{ branchId: "branch_2" }]);
  });

  test("accepts any printable invoice number", async () => {
    for (const number of ["INV/2026/№ 7", "ankara ✓ 🧾", "..", "a b%2F?#", "x".repeat(50), "🧾".repeat(50)]) {
      expect(await sell(number)).toMatchObject({ stage: "completed", sale: { traderInvoiceNumber: number } });
      expect(rig.simulator.documents(number)).toHaveLength(1);
    }
  });

  test("carries customer, date and payment type into the document", async () => {
    const more = { customer: { name: "Wanjiku", pin: "A001234567Z" }, saleDate: "2026-11-20", paymentTypeCode: "01" };
    expect((await sell("CUSTOMER-1", more)).sale).toMatchObject(more);
  });
});
