import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { SaleConflictError, SaleNotFoundError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { saleOfTea, salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** Decision 22: a number stays taken, also when Temporal's retention has passed. */
describeWithTemporal("the number of a sale that Temporal has deleted", () => {
  let rig: Rig;
  let first: Record<"same" | "other", SaleOutcome>;
  // All at once: a server deletes a run only seconds after it is asked to.
  beforeAll(async () => {
    rig = await startRig();
    const [same, other] = await Promise.all([
      finished(input("FORGOTTEN-1")),
      finished(input("FORGOTTEN-2")),
      refunded("FORGOTTEN-3"),
      neverSent("FORGOTTEN-4"),
    ]);
    first = { same, other };
  });
  afterAll(() => rig?.close());
  const { handleOf, start, startDirectly, movementsOf } = salesOf(() => rig);

  function input(traderInvoiceNumber: string, more: Partial<SaleInput> = {}): SaleInput {
    const customer = { name: "Wanjiku", pin: "A000000001B" };
    return saleOfTea(traderInvoiceNumber, { customer, ...more });
  }

  const forget = (invoice: string): Promise<void> => forgetWorkflow(rig, handleOf(invoice).workflowId);

  async function finished(sale: SaleInput): Promise<SaleOutcome> {
    await rig.starter.startSale(sale);
    const outcome = await handleOf(sale.traderInvoiceNumber).result();
    await forget(sale.traderInvoiceNumber);
    return outcome;
  }

  async function refunded(invoice: string): Promise<void> {
    await start(invoice);
    await handleOf(invoice).result();
    const refund = { reason: "06", traderInvoiceNumber: `CN-${invoice}`, restock: true } as const;
    expect(await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
    // Until then it may still be writing its record.
    await handleOf(invoice).result();
    await forget(invoice);
  }

  async function neverSent(invoice: string): Promise<void> {
    await rig.starter.startSale(input(invoice, { lines: [{ sku: "NOT-THERE", quantity: 1, unitPrice: 1 }] }));
    await rig.stateWhen(invoice, ({ attentions }) => attentions.length > 0);
    await rig.starter.cancel({ invoice }, { reason: "mistyped" });
    expect(await handleOf(invoice).result()).toMatchObject({ stage: "cancelled" });
    await forget(invoice);
  }

  test("returns the finished sale where the same one is started, without a call to the API", async () => {
    const calls = rig.callsOf("FORGOTTEN-1");
    const again = await rig.starter.startSaleAndWait(input("FORGOTTEN-1"), { waitSeconds: 20 });
    expect(again).toMatchObject({ result: "started", outcome: { stage: "completed", numberTaken: true } });
    expect(again.outcome?.sale).toEqual(first.same.sale);
    expect(again.outcome?.receipt).toEqual(first.same.receipt);
    expect(again.outcome?.stockMovements).toEqual(first.same.stockMovements);
    expect(rig.callsOf("FORGOTTEN-1")).toEqual(calls);
  });

  test("is refused to another sale, with what differs, and is still the first one's", async () => {
    const other = input("FORGOTTEN-2", { customer: { name: "Otieno" }, lines: [{ ...TEA, quantity: 3 }] });
    const refused = rig.starter.startSaleAndWait(other, { waitSeconds: 20 });
    await expect(refused).rejects.toThrow(SaleConflictError);
    await expect(refused).rejects.toMatchObject({ fields: ["customer.name", "customer.pin", "lines[0].quantity"] });
    await expect(refused).rejects.toThrow(
      /belongs to another sale\. What differs: customer\.name; customer\.pin; lines\[0\]\.quantity: 3, before \d+\. In the/,
    );
    const known = { stage: "completed", numberTaken: true, receipt: first.other.receipt };
    expect(await rig.starter.outcome({ invoice: "FORGOTTEN-2" })).toMatchObject(known);
    expect(await rig.starter.getSale({ invoice: "FORGOTTEN-2" })).toMatchObject({
      stage: "completed",
      document: { id: first.other.sale?.id },
    });
    const again = await rig.starter.startSaleAndWait(input("FORGOTTEN-2"), { waitSeconds: 20 });
    expect(again.outcome?.sale?.id).toBe(first.other.sale?.id);
    expect(rig.simulator.documents("FORGOTTEN-2")).toHaveLength(1);
  });

  test("returns the credit note of a refunded sale, and allows no second refund", async () => {
    const again = await rig.starter.startSaleAndWait(
      { traderInvoiceNumber: "FORGOTTEN-3", lines: [TEA], refundWindow: "0" },
      { waitSeconds: 20 },
    );
    expect(again.outcome?.creditNote).toMatchObject({ traderInvoiceNumber: "CN-FORGOTTEN-3", status: "completed" });
    expect(movementsOf("FORGOTTEN-3")).toHaveLength(1);
  });

  test("is free where only a run by hand was started under it, which names no goods, and finds no sale", async () => {
    const invoice = "NEVER-1";
    const number = { businessId: "biz_1", traderInvoiceNumber: invoice };
    const byHand = await startDirectly(rig.starter.workflowId({ invoice }), number);
    await expect(byHand.result()).rejects.toMatchObject({ cause: { type: "NotFound" } });
    const refund = { reason: "06", traderInvoiceNumber: "CN-NEVER-1" } as const;
    await expect(rig.starter.refund({ invoice }, refund)).rejects.toThrow(SaleNotFoundError);
    await expect(rig.starter.outcome({ invoice })).rejects.toThrow(SaleNotFoundError);
    const sold = await rig.starter.startSaleAndWait(input(invoice), { waitSeconds: 20 });
    expect(sold).toMatchObject({ result: "started", outcome: { stage: "completed" } });
    // While such a run is still open, a caller who sells under its number waits for its end.
    const [open] = await Promise.all([
      rig.starter.startSaleAndWait(input("NEVER-2"), { waitSeconds: 20 }),
      startDirectly(rig.starter.workflowId({ invoice: "NEVER-2" }), {
        ...number,
        traderInvoiceNumber: "NEVER-2",
      }).catch(() => undefined),
    ]);
    expect(open).toMatchObject({ outcome: { stage: "completed" } });
    expect(rig.simulator.documents("NEVER-2")).toHaveLength(1);
  });

  test("is free where nothing of the sale was ever sent", async () => {
    const other = await rig.starter.startSaleAndWait(input("FORGOTTEN-4"), { waitSeconds: 20 });
    expect(other).toMatchObject({ outcome: { stage: "completed" } });
  });
});
