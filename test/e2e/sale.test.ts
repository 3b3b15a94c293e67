import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  async function sell(traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<SaleOutcome> {
    const input = { traderInvoiceNumber, lines: [TEA], refundWindow: "0", ...more };
    const { outcome, workflowId } = await rig.starter.startSaleAndWait(input, { waitSeconds: 20 });
    if (outcome?.stage === "completed" && !outcome.attention) {
      return (await rig.client.workflow.getHandle(workflowId).result()) as SaleOutcome;
    }
    if (!outcome) throw new Error("no outcome");
    return outcome;
  }

  const { movementsOf } = salesOf(() => rig);

  test("that is accepted at once ends completed, with its receipt, in two calls", async () => {
    await sell("WARM-UP");
    const outcome = await sell("ACCEPTED-1");
    expect(outcome).toMatchObject({
      stage: "completed",
      sale: { status: "completed", traderInvoiceNumber: "ACCEPTED-1", totals: { total: 700 } },
      stockMovements: [{ state: "applied", action: "DEDUCT", itemId: "item_tea", quantity: 2, unitPrice: 350 }],
    });
    expect(outcome.receipt).toMatchObject({ receiptLabel: "NS", cuInvoiceNo: expect.any(String) });
    expect(outcome.attention).toBeUndefined();
    expect(rig.callsOf("ACCEPTED-1")).toEqual(["createSale", "adjustStock"]);
    expect(rig.simulator.documents("ACCEPTED-1")).toHaveLength(1);
    expect(await rig.starter.getSale({ invoice: "ACCEPTED-1" })).toMatchObject({ waitingFor: "nothing" });
  });

  test("in flight is finished by its callback, in three calls", async () => {
    rig.simulator.setAuthority("CALLBACK-1", [{ do: "accept", afterMs: 300 }]);
    const outcome = await sell("CALLBACK-1");
    expect(outcome).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
    expect(rig.callsOf("CALLBACK-1").toSorted()).toEqual(["adjustStock", "createSale", "readSale"]);
  });

  test("in flight without a callback is finished by polling", async () => {
    rig.simulator.setAuthority("POLLED-1", [{ do: "down", status: "retrying" }]);
    const selling = sell("POLLED-1", { callback: "off" });
    await rig.simulator.until(() => rig.callsOf("POLLED-1").filter((one) => one === "readSale").length === 2);
    rig.simulator.setAuthority("POLLED-1", [{ do: "accept" }]);
    const outcome = await selling;
    expect(outcome).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
    expect(rig.simulator.documents("POLLED-1")[0]?.callback).toBeNull();
  });

  test("of an item that is not registered registers it on the way, with one more call", async () => {
    const outcome = await sell("UNREGISTERED-1", { lines: [{ sku: "SOAP-1", quantity: 3, unitPrice: 120 }] });
    expect(outcome).toMatchObject({ stage: "completed", stockMovements: [{ itemId: "item_new", state: "applied" }] });
    expect(rig.simulator.calls({ operation: "registerItem", itemId: "item_new" })).toHaveLength(1);
  });

  test("that is rejected is resubmitted automatically, and never as a second document", async () => {
    rig.simulator.setAuthority("REJECTED-1", [{ do: "reject", reason: "not now" }, { do: "accept" }]);
    const outcome = await sell("REJECTED-1");
    expect(outcome).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(rig.simulator.documents("REJECTED-1")).toMatchObject([{ status: "completed", submissions: 2 }]);
    expect(movementsOf("REJECTED-1")).toHaveLength(1);
  });

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

  test("moves its stock on completion, or not at all, where that is asked for", async () => {
    rig.simulator.setAuthority("LATER-1", [{ do: "down" }]);
    await rig.starter.startSale({
      traderInvoiceNumber: "LATER-1",
      lines: [TEA],
      stock: "on-completion",
      refundWindow: "0",
    });
    await rig.stateWhen("LATER-1", ({ stage }) => stage === "awaiting-authority");
    expect(movementsOf("LATER-1")).toEqual([]);
    rig.simulator.setAuthority("LATER-1", [{ do: "accept" }]);
    await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "LATER-1" })).result();
    expect(movementsOf("LATER-1")).toHaveLength(1);
    expect(await sell("OFF-1", { stock: "off" })).toMatchObject({ stockMovements: [] });
    expect(movementsOf("OFF-1")).toEqual([]);
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

  test("has its stage and its numbers as search attributes, and a summary", async () => {
    await sell("SEEN-1");
    const handle = rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "SEEN-1" }));
    const description = await handle.describe();
    expect(description.searchAttributes).toMatchObject({
      FiscalBusiness: ["biz_1"],
      FiscalInvoice: ["SEEN-1"],
      FiscalStage: ["completed"],
      FiscalSaleId: [rig.simulator.documents("SEEN-1")[0]?.id],
    });
    expect(await description.staticSummary()).toBe("Sale SEEN-1 of biz_1 (default)");
  });
});
