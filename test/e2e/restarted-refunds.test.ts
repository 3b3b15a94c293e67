import { afterAll, beforeAll, expect, test } from "vitest";

import { creditNoteWorkflowId, type RefundRequest, SIGNALS } from "../../src/contract/index.ts";
import { SaleConflictError } from "../../src/starter/index.ts";
import { keepClosedRuns } from "../../src/worker/watch-closed-runs.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { failRun } from "../rig/fail-run.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { Held } from "../rig/held.ts";
import { saleOfTea, salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a refund whose run ended and is restarted", () => {
  let rig: Rig;
  const takes = new Map<string, Held>();
  beforeAll(async () => {
    rig = await startRig({
      receiver: false,
      withLedger: (real) => ({
        ...real,
        stock: {
          ...real.stock,
          take: (request) => {
            const number = request.referenceId.split("/")[0] ?? "";
            const held = takes.get(number);
            takes.delete(number);
            return held ? held.pass(() => real.stock.take(request)) : real.stock.take(request);
          },
        },
      }),
    });
  });
  afterAll(() => rig?.close());
  const { sold, handleOf, result, movementsOf } = salesOf(() => rig);
  const views = viewsOf(() => rig);
  const { fiscalflow, listedAs, shown, endedNumbers, openNumbers } = views;

  /** The first claim of a movement of this document waits. */
  function heldTake(number: string): Held {
    const held = new Held();
    takes.set(number, held);
    return held;
  }

  /** A sale that is signed and has taken its goods, closed at once or open for its refund. */
  async function soldAs(invoice: string, refundWindow: string): Promise<string> {
    const { sale } = await sold(invoice, { refundWindow });
    if (refundWindow === "0") await result(invoice);
    return creditNoteWorkflowId({ ...BUSINESS, saleId: sale?.id ?? "" });
  }

  const recordedInLedger = (invoice: string): Promise<void> =>
    expect
      .poll(() => rig.ledger.records.findSale(BUSINESS, invoice))
      .toMatchObject({ record: { document: { status: "completed" } } });

  const refundOf = (invoice: string): RefundRequest => ({
    reason: "06",
    traderInvoiceNumber: `CN-${invoice}`,
    restock: true,
  });

  /** One credit note is signed, and what was taken has gone back once. */
  function isCreditedOnce(invoice: string): void {
    const note = `CN-${invoice}`;
    expect(rig.simulator.documents(note)).toMatchObject([{ type: "credit_note", status: "completed" }]);
    const actions = [...movementsOf(invoice), ...movementsOf(note)].map(({ action }) => action);
    expect(actions).toEqual(["DEDUCT", "ADD"]);
  }

  async function restartCreditNote(invoice: string): Promise<void> {
    const said = await fiscalflow("sale", "restart", invoice, "--note", "carry it on", "--credit-note");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
  }

  test("after its credit note was terminated before its signature, after the window, credits once and returns the goods once", async () => {
    const [invoice, note] = ["NOTE-1", "CN-NOTE-1"];
    const noteId = await soldAs(invoice, "0");
    rig.simulator.setAuthority(note, [{ do: "down" }]);
    await rig.starter.refund({ invoice }, refundOf(invoice));
    const handle = rig.client.workflow.getHandle(noteId);
    await expect.poll(() => openNumbers()).toContain(note);
    await handle.terminate("by mistake");

    const closed = { status: "terminated", reason: "by mistake" };
    expect(await shown(invoice)).toMatchObject({ stage: "crediting", creditNoteState: { closed } });
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "crediting" });
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "completed" });
    await expect
      .poll(() => listedAs(note, "--ended"))
      .toMatchObject([{ type: "creditNote", status: "terminated", waitsFor: "a restart" }]);
    const many = ["sale", "restart", "--query", `FiscalInvoice = "${note}"`, "--note", "an example", "--dry-run"];
    expect((await fiscalflow(...many)).stdout).toMatch(new RegExp(`^${note} \\(credit-note/\\S+\\), `));
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "crediting", creditNote: note }]);
    const kept = async () => (await rig.ledger.records.findSale(BUSINESS, invoice))?.creditNote?.record;
    await expect
      .poll(async () => {
        await keepClosedRuns(rig.client, rig.ledger);
        return kept();
      })
      .toMatchObject({ closed });
    expect(await endedNumbers()).toContain(note);
    expect(await openNumbers()).not.toContain(note);

    await restartCreditNote(invoice);
    await expect.poll(kept).not.toHaveProperty("closed");
    expect(await openNumbers()).toContain(note);
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "crediting" });
    rig.simulator.setAuthority(note, [{ do: "accept" }]);
    await handle.result();
    isCreditedOnce(invoice);
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "credited" });
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "credited", creditNote: note }]);
    expect(await listedAs(note, "--ended")).toEqual([]);
    await expect.poll(kept).toMatchObject({ stage: "credited", document: { status: "completed" } });
    expect(await endedNumbers()).not.toContain(note);
    expect(await openNumbers()).not.toContain(note);
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("of a sale that was refunded after its run had ended is the restarted run's refund, and no second one", async () => {
    const invoice = "MEANWHILE-1";
    await soldAs(invoice, "1 hour");
    await recordedInLedger(invoice);
    await handleOf(invoice).terminate("by mistake");
    expect(await rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 30 })).toMatchObject({
      stage: "credited",
    });
    const said = await fiscalflow("sale", "restart", invoice, "--note", "carry it on");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    const other = { ...refundOf(invoice), traderInvoiceNumber: "CN-OTHER" };
    expect(await result(invoice)).toMatchObject({
      stage: "credited",
      creditNote: { traderInvoiceNumber: `CN-${invoice}` },
    });
    await expect(rig.starter.refund({ invoice }, other)).rejects.toThrow(SaleConflictError);
    isCreditedOnce(invoice);
  });

  test("after its credit note was terminated between its signature and the goods' return returns them once", async () => {
    const invoice = "NOTE-2";
    const noteId = await soldAs(invoice, "0");
    const first = heldTake(`CN-${invoice}`);
    await rig.starter.refund({ invoice }, refundOf(invoice));
    await expect.poll(() => first.calls).toBe(1);
    const handle = rig.client.workflow.getHandle(noteId);
    await handle.terminate("by mistake");
    await restartCreditNote(invoice);
    await handle.result();
    isCreditedOnce(invoice);
    // The attempt of the run before comes late, and finds that it was shut out.
    first.release();
    await expect.poll(() => first.answers).toBe(1);
    isCreditedOnce(invoice);
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "credited" });
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("after its credit note was terminated within the window needs a retry of the sale, and credits once", async () => {
    const invoice = "NOTE-3";
    const noteId = await soldAs(invoice, "1 hour");
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
    await handleOf(invoice).signal(SIGNALS.refundRequested, refundOf(invoice));
    await expect.poll(() => rig.simulator.documents(`CN-${invoice}`)).toHaveLength(1);
    const handle = rig.client.workflow.getHandle(noteId);
    await handle.terminate("by mistake");
    const { attentions } = await rig.stateWhen(invoice, (state) => state.attentions.length > 0);
    expect(attentions).toMatchObject([{ code: "unexpected-answer", subject: noteId }]);
    const steps =
      /First restart the credit note, .* then retry the sale, .*:\n {4}fiscalflow sale restart NOTE-3 .* --credit-note\n {4}fiscalflow sale retry NOTE-3\n {2}Or leave the sale as it is.*:\n {4}fiscalflow sale acknowledge NOTE-3 /;
    const page = async () => (await fiscalflow("sale", "show", invoice)).stdout;
    expect(await page()).toMatch(steps);
    await restartCreditNote(invoice);
    expect(await page()).not.toContain("First restart");
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "accept" }]);
    await handle.result();
    await rig.starter.retry({ invoice });
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    isCreditedOnce(invoice);
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "credited", status: "completed" }]);
    await expect.poll(() => openNumbers()).not.toContain(invoice);
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("that was given up after its credit note was terminated within the window leaves the sale completed", async () => {
    const invoice = "NOTE-4";
    const deduction = heldTake(invoice);
    const waited = await rig.starter.startSaleAndWait(saleOfTea(invoice, { refundWindow: "1 second" }), {
      waitSeconds: 20,
    });
    const noteId = creditNoteWorkflowId({ ...BUSINESS, saleId: waited.outcome.sale?.id ?? "" });
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
    await handleOf(invoice).signal(SIGNALS.refundRequested, refundOf(invoice));
    await expect.poll(() => rig.simulator.documents(`CN-${invoice}`)).toHaveLength(1);
    const note = rig.client.workflow.getHandle(noteId);
    await note.terminate("by mistake");
    await rig.stateWhen(invoice, (state) => state.attentions.length > 0);
    await rig.starter.acknowledge({ invoice }, { code: "unexpected-answer", note: "the buyer keeps the goods" });
    const kept = async () => (await rig.ledger.records.findSale(BUSINESS, invoice))?.record;
    await expect.poll(kept).toMatchObject({ stage: "completed", attentions: [] });
    // Its movement is left to a run that carries the sale on, and the refund is not asked for again.
    await handleOf(invoice).terminate("by mistake");
    expect(await fiscalflow("sale", "restart", invoice, "--note", "carry it on")).toMatchObject({ exitCode: 0 });
    await result(invoice);
    deduction.release();
    expect(await note.describe()).toMatchObject({ status: { name: "TERMINATED" } });
    expect(movementsOf(invoice).map(({ action }) => action)).toEqual(["DEDUCT"]);
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "completed" });
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "completed", waitsFor: "nothing" }]);
  });

  test("after the sale failed while it was refunded is carried out once", async () => {
    const invoice = "DEFECT-2";
    await soldAs(invoice, "1 hour");
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
    await handleOf(invoice).signal(SIGNALS.refundRequested, refundOf(invoice));
    await expect.poll(() => rig.simulator.documents(`CN-${invoice}`)).toHaveLength(1);
    await expect
      .poll(async () => (await rig.ledger.records.findSale(BUSINESS, invoice))?.record.stage)
      .toBe("crediting");
    const { runId } = await handleOf(invoice).describe();
    await failRun(rig, rig.starter.workflowId({ invoice }), "cannot read properties of undefined");
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "crediting", closed: { status: "failed" } });
    await rig.starter.restart({ invoice }, { note: "the defect is corrected" });
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    isCreditedOnce(invoice);
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice }), runId);
  });
});
