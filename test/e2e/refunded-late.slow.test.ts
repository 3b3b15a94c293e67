import { afterAll, beforeAll, expect, test } from "vitest";

import { NOTHING_TO_RESTOCK, type RefundRequest, type SaleInput } from "../../src/contract/index.ts";
import type { ListedDocument } from "../../src/ledger/index.ts";
import { SaleConflictError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { saleOfTea, salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

describeWithTemporal("a sale that was refunded after it had closed", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, result, movementsOf } = salesOf(() => rig);
  const { fiscalflow, listedAs, shown, openNumbers, endedNumbers } = viewsOf(() => rig);

  const refundOf = (invoice: string): RefundRequest => ({ reason: "06", traderInvoiceNumber: `CN-${invoice}` });
  async function documentsOfToday(): Promise<ListedDocument[]> {
    const { stdout } = await fiscalflow("documents", "day", "--json");
    const { businesses } = JSON.parse(stdout) as { businesses: { documents: ListedDocument[] }[] };
    return businesses.flatMap(({ documents }) => documents);
  }

  async function closedSale(invoice: string, more: Partial<SaleInput> = {}): Promise<void> {
    await start(invoice, more);
    await result(invoice);
  }

  const kept = (invoice: string) => rig.ledger.documents.findSale(BUSINESS, invoice);

  test("is shown as crediting, then credited, in every view", async () => {
    const invoice = "LATE-1";
    await closedSale(invoice, { customer: { name: "Wanjiku" } });
    rig.simulator.setAuthority("CN-LATE-1", [{ do: "down" }]);
    expect(await rig.starter.refund({ invoice }, refundOf(invoice))).toMatchObject({ stage: "crediting" });
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "crediting" });
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "crediting" });
    const rowOf = (...flags: string[]) => listedAs(invoice, ...flags);
    const common = { buyer: "Wanjiku", amount: "700", creditNote: "CN-LATE-1" };
    await expect.poll(() => rowOf()).toMatchObject([{ ...common, stage: "crediting", status: "running" }]);
    await expect.poll(() => openNumbers()).toContain("CN-LATE-1");

    rig.simulator.setAuthority("CN-LATE-1", [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "credited", sale: { traderInvoiceNumber: invoice } });
    const credited = { stage: "credited", creditNote: { traderInvoiceNumber: "CN-LATE-1", status: "completed" } };
    expect(await rig.starter.outcome({ invoice })).toMatchObject(credited);
    expect(await rig.starter.getSale({ invoice })).toMatchObject(credited);
    expect(await shown(invoice)).toMatchObject(credited);
    await expect.poll(() => rowOf()).toMatchObject([{ ...common, stage: "credited", waitsFor: "nothing" }]);
    expect(await rowOf("--ended")).toEqual([]);
    expect((await fiscalflow("sale", "list")).stdout).toMatch(/LATE-1 .*credited by CN-LATE-1 .*Wanjiku .*700\.00/);
    await expect.poll(async () => (await kept(invoice))?.creditNote?.record.stage).toBe("credited");
    expect(await openNumbers()).not.toContain("CN-LATE-1");
    expect(await endedNumbers()).not.toContain("CN-LATE-1");
    const documents = await documentsOfToday();
    expect(documents.filter(({ number }) => number.endsWith(invoice))).toMatchObject([
      { type: "credit_note", number: "CN-LATE-1", status: "completed", reverses: { number: invoice } },
      { type: "sale", number: invoice, status: "completed", stage: "credited" },
    ]);
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });

  test("is shown as credited from the ledger too, once Temporal has deleted it", async () => {
    const invoice = "LATE-3";
    await closedSale(invoice);
    await rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 20 });
    await result(invoice);
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice }));
    const credited = { source: "ledger", stage: "credited", creditNote: { status: "completed" } };
    expect(await rig.starter.outcome({ invoice })).toMatchObject(credited);
    expect(await rig.starter.getSale({ invoice })).toMatchObject(credited);
    expect(await shown(invoice)).toMatchObject(credited);
  });

  test("is credited by its number alone, once Temporal has deleted it", async () => {
    const invoice = "LATE-7";
    await closedSale(invoice);
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice }));
    const refund: RefundRequest = { ...refundOf(invoice), restock: true };
    expect(await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
    expect(await result(invoice)).toMatchObject({
      stage: "credited",
      sale: { traderInvoiceNumber: invoice },
      creditNote: { traderInvoiceNumber: "CN-LATE-7", status: "completed" },
      refund,
    });
    expect(movementsOf(invoice).map(({ action }) => action)).toEqual(["DEDUCT"]);
    expect(movementsOf("CN-LATE-7").map(({ action }) => action)).toEqual(["ADD"]);
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "credited", creditNote: "CN-LATE-7" }]);
    // The same sale is found again, and another one is refused its number.
    const input = saleOfTea(invoice);
    expect(await rig.starter.startSaleAndWait(input)).toMatchObject({
      result: "known",
      outcome: { stage: "credited" },
    });
    await expect(rig.starter.startSale({ ...input, customer: { name: "Otieno" } })).rejects.toThrow(SaleConflictError);
  });

  test("is refused what an open sale would refuse, stays completed, and can be refunded still", async () => {
    const invoice = "LATE-8";
    await closedSale(invoice, { stock: "off" });
    const refund = refundOf(invoice);
    await expect(rig.starter.refund({ invoice }, { ...refund, restock: true })).rejects.toMatchObject({
      code: "NotAllowed",
      message: expect.stringContaining(NOTHING_TO_RESTOCK),
    });
    expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect(await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
    await expect(rig.starter.refund({ invoice }, { ...refund, reason: "01" })).rejects.toMatchObject({
      code: "Conflict",
      fields: ["reason"],
    });
    expect(await rig.starter.refund({ invoice }, refund)).toMatchObject({ stage: "credited", refund });
  });

  test("is credited once, however many ask for the same refund at once", async () => {
    const invoice = "LATE-9";
    await closedSale(invoice);
    const asked = Array.from({ length: 5 }, () =>
      rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 20 }),
    );
    for (const outcome of await Promise.all(asked)) expect(outcome).toMatchObject({ stage: "credited" });
    expect(rig.simulator.documents("CN-LATE-9")).toHaveLength(1);
  });
});
