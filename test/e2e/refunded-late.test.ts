import { afterAll, beforeAll, expect, test } from "vitest";

import { creditNoteWorkflowId, type RefundRequest, type SaleInput } from "../../src/contract/index.ts";
import type { ListedDocument } from "../../src/ledger/index.ts";
import { REFUSED_WITHIN_MS } from "../../src/starter/bound.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a sale that was refunded after it had closed", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);
  const { fiscalflow, listedAs, shown, openNumbers, endedNumbers } = viewsOf(() => rig);

  const refundOf = (invoice: string): RefundRequest => ({ reason: "06", traderInvoiceNumber: `CN-${invoice}` });
  async function documentsOfToday(): Promise<ListedDocument[]> {
    const { stdout } = await fiscalflow("documents", "day", "--json");
    const { businesses } = JSON.parse(stdout) as { businesses: { documents: ListedDocument[] }[] };
    return businesses.flatMap(({ documents }) => documents);
  }

  async function closedSale(invoice: string, more: Partial<SaleInput> = {}): Promise<{ document: { id: string } }> {
    await start(invoice, more);
    const { sale } = await result(invoice);
    return { document: { id: sale?.id ?? "" } };
  }

  const kept = (invoice: string) => rig.ledger.records.findSale(BUSINESS, invoice);

  test("is shown as crediting, then credited, in every view", async () => {
    const invoice = "LATE-1";
    const { document } = await closedSale(invoice, { customer: { name: "Wanjiku" } });
    rig.simulator.setAuthority("CN-LATE-1", [{ do: "down" }]);
    const askedAtMs = Date.now();
    expect(await rig.starter.refund({ invoice }, refundOf(invoice))).toMatchObject({ stage: "crediting" });
    expect(Date.now() - askedAtMs).toBeLessThan(REFUSED_WITHIN_MS);
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "crediting" });
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "crediting" });
    const rowOf = (...flags: string[]) => listedAs(invoice, ...flags);
    const common = { status: "completed", buyer: "Wanjiku", amount: "700", creditNote: "CN-LATE-1" };
    await expect.poll(() => rowOf()).toMatchObject([{ ...common, stage: "crediting", waitsFor: "its credit note" }]);
    await expect.poll(() => rowOf("--stage", "crediting")).toMatchObject([common]);
    expect(await rowOf("--stage", "completed")).toEqual([]);
    await expect.poll(() => openNumbers()).toContain("CN-LATE-1");

    rig.simulator.setAuthority("CN-LATE-1", [{ do: "accept" }]);
    const noteId = creditNoteWorkflowId({ ...BUSINESS, saleId: document.id });
    await rig.client.workflow.getHandle(noteId).result();
    const credited = { stage: "credited", creditNote: { traderInvoiceNumber: "CN-LATE-1", status: "completed" } };
    expect(await rig.starter.outcome({ invoice })).toMatchObject(credited);
    expect(await rig.starter.getSale({ invoice })).toMatchObject(credited);
    expect(await shown(invoice)).toMatchObject(credited);
    await expect.poll(() => rowOf()).toMatchObject([{ ...common, stage: "credited", waitsFor: "nothing" }]);
    expect(await rowOf("--ended")).toEqual([]);
    await expect.poll(() => rowOf("--stage", "credited")).toMatchObject([{ ...common, stage: "credited" }]);
    for (const stage of ["completed", "crediting"]) expect(await rowOf("--stage", stage)).toEqual([]);
    expect((await fiscalflow("sale", "list")).stdout).toMatch(
      /LATE-1 .*credited by CN-LATE-1 \(finished\) .*Wanjiku .*700\.00/,
    );
    await expect.poll(async () => (await kept(invoice))?.creditNote?.record.stage).toBe("credited");
    expect(await openNumbers()).not.toContain("CN-LATE-1");
    expect(await endedNumbers()).not.toContain("CN-LATE-1");
    const documents = await documentsOfToday();
    expect(documents.filter(({ number }) => number.endsWith(invoice))).toMatchObject([
      { type: "credit_note", number: "CN-LATE-1", status: "completed", reverses: { number: invoice } },
      { type: "sale", number: invoice, status: "completed", stage: "credited" },
    ]);
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("is shown as credited from the ledger too, once Temporal has deleted it", async () => {
    const invoice = "LATE-3";
    const { document } = await closedSale(invoice);
    await rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 20 });
    const noteId = creditNoteWorkflowId({ ...BUSINESS, saleId: document.id });
    await rig.client.workflow.getHandle(noteId).result();
    await expect.poll(async () => (await kept(invoice))?.creditNote?.record.stage).toBe("credited");
    for (const workflowId of [noteId, rig.starter.workflowId({ invoice })]) await forgetWorkflow(rig, workflowId);
    const credited = { source: "ledger", stage: "credited", creditNote: { status: "completed" } };
    expect(await rig.starter.outcome({ invoice })).toMatchObject(credited);
    expect(await rig.starter.getSale({ invoice })).toMatchObject(credited);
    expect(await shown(invoice)).toMatchObject(credited);
  });
});
