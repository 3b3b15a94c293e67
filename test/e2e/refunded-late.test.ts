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
  const { start, result, handleOf } = salesOf(() => rig);
  const views = viewsOf(() => rig);
  const { fiscalflow, listedAs, shown, openNumbers, endedNumbers } = views;

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

  test("where it was terminated in its refund window, has nothing left to do, and is credited without a restart", async () => {
    const invoice = "LATE-4";
    await start(invoice, { refundWindow: "1 hour" });
    await rig.stateWhen(
      invoice,
      ({ stage, stockMovements: [movement] }) => stage === "completed" && movement?.state === "applied",
    );
    await expect.poll(async () => (await kept(invoice))?.record.stage).toBe("completed");
    await handleOf(invoice).terminate("by mistake");
    const nothing = "nothing is left to do, and a refund works without a restart";
    const page = async (): Promise<string> => (await fiscalflow("sale", "show", invoice)).stdout;
    expect(await page()).toContain(nothing);
    expect(await page()).not.toContain("sale restart");
    await expect.poll(() => listedAs(invoice, "--ended")).toMatchObject([{ stage: "completed", waitsFor: "nothing" }]);
    expect(await shown(invoice)).toMatchObject({ closed: { status: "terminated", settled: true } });
    const retry = () => rig.starter.retry({ invoice });
    await expect(retry()).rejects.toMatchObject({
      message: expect.stringMatching(
        /was terminated \("by mistake".*: no update reaches it, and nothing is left to do in it\. It is completed\. Allowed: a refund\.$/,
      ),
      allowed: ["refund"],
    });
    expect((await fiscalflow("sale", "retry", invoice)).stderr).toMatch(
      /Allowed: a refund\.\n +fiscalflow sale refund LATE-4 /,
    );
    const query = `FiscalInvoice = "${invoice}"`;
    const many = await fiscalflow("sale", "restart", "--query", query, "--note", "all", "--dry-run");
    expect(many.stdout).toContain("0 found");

    const refund = ["--reason", "06", "--number", "CN-LATE-4", "--wait"];
    expect((await fiscalflow("sale", "refund", invoice, ...refund)).stdout).toContain("credited in full");
    const closed = { status: "terminated" };
    const credited = {
      stage: "credited",
      closed,
      creditNote: { traderInvoiceNumber: "CN-LATE-4", status: "completed" },
    };
    expect(await rig.starter.outcome({ invoice })).toMatchObject(credited);
    expect(await shown(invoice)).toMatchObject(credited);
    expect(await page()).toMatch(
      /Stage {9}credited \(terminated\)\n(.*\n)* {2}Credit note {3}\S+ CN-LATE-4, completed/,
    );
    expect(await page()).not.toContain("sale restart");
    await expect(retry()).rejects.toMatchObject({
      message: expect.stringMatching(
        /nothing is left to do in it\. It is credited by CN-LATE-4: nothing is left to do\.$/,
      ),
      allowed: [],
    });
    const common = { stage: "credited", status: "terminated", waitsFor: "nothing", creditNote: "CN-LATE-4" };
    for (const flags of [[], ["--ended"], ["--stage", "credited"], ["--ended", "--stage", "credited"]])
      await expect.poll(() => listedAs(invoice, ...flags), { message: flags.join(" ") }).toMatchObject([common]);
    for (const flags of [["--attention"], ["--stage", "completed"]])
      expect(await listedAs(invoice, ...flags)).toEqual([]);
  });

  test("is refused a number that another sale's credit note has, whoever waits for it, and is credited under another one", async () => {
    const number = "CN-SHARED";
    const [first, invoice] = ["LATE-5", "LATE-6"];
    await closedSale(first);
    const { document } = await closedSale(invoice);
    await rig.starter.refund({ invoice: first }, { reason: "06", traderInvoiceNumber: number }, { waitSeconds: 20 });
    await expect(rig.starter.refund({ invoice }, { reason: "06", traderInvoiceNumber: number })).rejects.toMatchObject({
      code: "Conflict",
      fields: ["traderInvoiceNumber"],
      message: expect.stringContaining(`${number} belongs to the credit note of another sale: ${first} `),
    });
    const refused = await fiscalflow("sale", "refund", invoice, "--reason", "06", "--number", number);
    expect(refused).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("Use another number") });

    const noteId = creditNoteWorkflowId({ ...BUSINESS, saleId: document.id });
    const saysRefundAgain = async (): Promise<void> => {
      const page = (await fiscalflow("sale", "show", invoice)).stdout;
      expect(page).toContain("nothing was sent: refund the sale again under another number");
      expect(page).not.toContain("sale restart");
      expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "completed" });
      const { stderr } = await fiscalflow("sale", "retry", invoice);
      expect(stderr).toContain("It is completed. Allowed: a refund.");
      expect(stderr).not.toContain("--credit-note");
    };
    await saysRefundAgain();
    await rig.starter.restart({ workflowId: noteId }, { note: "try again" });
    await expect(rig.client.workflow.getHandle(noteId).result()).rejects.toMatchObject({ cause: { type: "Conflict" } });
    // The list of its runs follows them by a moment.
    await expect
      .poll(async () => (await fiscalflow("sale", "show", invoice)).stdout)
      .toContain("refund the sale again under another number");
    await saysRefundAgain();
    expect(await rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 20 })).toMatchObject({
      stage: "credited",
    });
  });

  test("whose credit note was terminated shows that, and how to restart the credit note", async () => {
    await start("LATE-2");
    const done = await result("LATE-2");
    rig.simulator.setAuthority("CN-LATE-2", [{ do: "down" }]);
    await rig.starter.refund({ invoice: "LATE-2" }, { reason: "06", traderInvoiceNumber: "CN-LATE-2" });
    const noteId = creditNoteWorkflowId({ ...BUSINESS, saleId: done.sale?.id ?? "" });
    await expect.poll(() => rig.simulator.documents("CN-LATE-2")).toHaveLength(1);
    await rig.client.workflow.getHandle(noteId).terminate("by mistake");
    expect(await shown("LATE-2")).toMatchObject({ creditNoteState: { closed: { status: "terminated" } } });
    expect(await rig.starter.getSale({ invoice: "LATE-2" })).toMatchObject({
      stage: "crediting",
      waitingFor: expect.stringMatching(
        /^nothing: the workflow of its credit note CN-LATE-2 was terminated \("by mistake".*\); nobody carries it on until it is restarted$/,
      ),
    });
    const row = { stage: "crediting", status: "completed", creditNote: "CN-LATE-2" };
    for (const flags of [[], ["--stage", "crediting"]])
      await expect
        .poll(() => listedAs("LATE-2", ...flags), { message: flags.join(" ") })
        .toMatchObject([{ ...row, waitsFor: "a restart of its credit note" }]);
    expect(await listedAs("LATE-2", "--stage", "completed")).toEqual([]);
    const page = (await fiscalflow("sale", "show", "LATE-2")).stdout;
    const [, command = ""] = /^ {4}fiscalflow (sale restart LATE-2 .*)$/m.exec(page) ?? [];
    expect(command).toBe("sale restart LATE-2 --note '<why>' --credit-note");
    rig.simulator.setAuthority("CN-LATE-2", [{ do: "accept" }]);
    const said = await fiscalflow("sale", "restart", "LATE-2", "--note", "a slip", "--credit-note");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    await rig.client.workflow.getHandle(noteId).result();
    expect(await shown("LATE-2")).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect(rig.simulator.documents("CN-LATE-2")).toHaveLength(1);
  });
});
