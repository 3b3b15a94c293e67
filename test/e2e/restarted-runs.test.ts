import { afterAll, beforeAll, expect, test } from "vitest";

import {
  type ClosedStatus,
  creditNoteWorkflowId,
  MAIN_TASK_QUEUE,
  type RefundRequest,
  type SaleInput,
} from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { ledgerOf } from "../../src/worker/ledger-of.ts";
import { keepClosedRuns } from "../../src/worker/watch-closed-runs.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { failRun } from "../rig/fail-run.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { Held } from "../rig/held.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a run that was ended on its way and is restarted", () => {
  let rig: Rig;
  let ledger: Ledger;
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
    ledger = ledgerOf(rig.config);
  });
  afterAll(async () => {
    await ledger?.close();
    await rig?.close();
  });
  const { handleOf, result, movementsOf } = salesOf(() => rig);
  const views = viewsOf(
    () => rig,
    () => ledger,
  );
  const { fiscalflow, listed, shown, report, endedNumbers, openNumbers, toldToLedger } = views;

  /** The first claim of a movement of this document waits. */
  function heldTake(number: string): Held {
    const held = new Held();
    takes.set(number, held);
    return held;
  }

  const sale = (traderInvoiceNumber: string): SaleInput => ({ traderInvoiceNumber, lines: [TEA], refundWindow: "0" });
  const listedAs = async (invoice: string, ...flags: string[]) =>
    (await listed(...flags)).filter((one) => one.invoice === invoice);

  /** Everybody says the same of a sale that waits for its signature and whose run has ended so. */
  async function isToldAs(invoice: string, status: ClosedStatus): Promise<void> {
    const closed = { status, atMs: expect.any(Number) };
    // What a defect has written no worker can replay: then the ledger answers.
    const source = status === "failed" ? "ledger" : "workflow";
    expect(await shown(invoice)).toMatchObject({ source, stage: "awaiting-authority", closed });
    expect((await fiscalflow("sale", "show", invoice)).stdout).toContain(`fiscalflow sale restart ${invoice} --note`);
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "awaiting-authority", closed });
    const outcome = await rig.starter.outcome({ invoice }, { waitSeconds: 5 });
    expect(outcome).toMatchObject({ source, stage: "awaiting-authority", closed });
    expect(await rig.starter.startSale(sale(invoice))).toMatchObject({ result: "closed" });
    await expect
      .poll(() => listedAs(invoice, "--ended"))
      .toMatchObject([{ stage: "awaiting-authority", status, attention: null, waitsFor: "a restart" }]);
    await toldToLedger(status, invoice);
    const { open, ended } = await report();
    expect(open.map(({ number }) => number)).not.toContain(invoice);
    const told = ended.documents.filter(({ number }) => number === invoice);
    expect(told).toMatchObject([{ stage: "awaiting-authority", status }]);
  }

  /** Restarted, it is signed: with the one document and the one movement of the run before. */
  async function isCarriedOn(invoice: string): Promise<void> {
    const said = await fiscalflow("sale", "restart", invoice, "--note", "carry it on");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
    await expect.poll(() => endedNumbers()).not.toContain(invoice);
    expect(await openNumbers()).toContain(invoice);
    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(rig.simulator.documents(invoice)).toMatchObject([{ status: "completed" }]);
    expect(movementsOf(invoice)).toMatchObject([{ action: "DEDUCT" }]);
    expect(await shown(invoice)).not.toHaveProperty("closed");
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "completed", status: "completed" }]);
    expect(await listedAs(invoice, "--ended")).toEqual([]);
    await expect.poll(() => openNumbers()).not.toContain(invoice);
    expect((await ledger.records.verify(BUSINESS)).findings).toEqual([]);
  }

  async function isApplied(invoice: string): Promise<void> {
    await rig.stateWhen(invoice, ({ stage, stockMovements }) => {
      return stage === "awaiting-authority" && stockMovements[0]?.state === "applied";
    });
    await expect.poll(() => openNumbers()).toContain(invoice);
  }

  test("as it timed out takes over its document and its movement", async () => {
    rig.simulator.setAuthority("LIMIT-1", [{ do: "down" }]);
    // As somebody may who starts it without the starter.
    const handle = await rig.client.workflow.start("sale", {
      workflowId: rig.starter.workflowId({ invoice: "LIMIT-1" }),
      taskQueue: MAIN_TASK_QUEUE,
      args: [sale("LIMIT-1")],
      workflowExecutionTimeout: "10 seconds",
    });
    await isApplied("LIMIT-1");
    await expect.poll(async () => (await handle.describe()).status.name).toBe("TIMED_OUT");
    await isToldAs("LIMIT-1", "timed-out");
    await isCarriedOn("LIMIT-1");
  });

  test("as it failed in the middle takes over its document and its movement", async () => {
    rig.simulator.setAuthority("DEFECT-1", [{ do: "down" }]);
    await rig.starter.startSale(sale("DEFECT-1"));
    await isApplied("DEFECT-1");
    const { runId } = await handleOf("DEFECT-1").describe();
    await failRun(rig, rig.starter.workflowId({ invoice: "DEFECT-1" }), "cannot read properties of undefined");
    await isToldAs("DEFECT-1", "failed");
    await isCarriedOn("DEFECT-1");
    // A history of another code than this one's.
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice: "DEFECT-1" }), runId);
  });

  /** A sale that is signed and has taken its goods, closed at once or open for its refund. */
  async function sold(invoice: string, refundWindow: string): Promise<string> {
    await rig.starter.startSale({ ...sale(invoice), refundWindow });
    const { document } = await rig.stateWhen(invoice, ({ stage, stockMovements }) => {
      return stage === "completed" && stockMovements[0]?.state === "applied";
    });
    if (refundWindow === "0") await result(invoice);
    return creditNoteWorkflowId({ ...BUSINESS, saleId: document?.id ?? "" });
  }

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

  test("as it failed while it was refunded carries the refund out, once", async () => {
    const invoice = "DEFECT-2";
    await sold(invoice, "1 hour");
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
    await rig.starter.refund({ invoice }, refundOf(invoice));
    await expect.poll(() => rig.simulator.documents(`CN-${invoice}`)).toHaveLength(1);
    await expect.poll(async () => (await ledger.records.findSale(BUSINESS, invoice))?.record.stage).toBe("crediting");
    const { runId } = await handleOf(invoice).describe();
    await failRun(rig, rig.starter.workflowId({ invoice }), "cannot read properties of undefined");
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "crediting", closed: { status: "failed" } });
    await rig.starter.restart({ invoice }, { note: "the defect is mended" });
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    isCreditedOnce(invoice);
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice }), runId);
  });

  test("as its credit note was terminated on its way, after the window, credits once and takes the goods back once", async () => {
    const [invoice, note] = ["NOTE-1", "CN-NOTE-1"];
    const noteId = await sold(invoice, "0");
    rig.simulator.setAuthority(note, [{ do: "down" }]);
    await rig.starter.refund({ invoice }, refundOf(invoice));
    const handle = rig.client.workflow.getHandle(noteId);
    await expect.poll(() => openNumbers()).toContain(note);
    await handle.terminate("by mistake");

    const closed = { status: "terminated", reason: "by mistake" };
    expect(await shown(invoice)).toMatchObject({ stage: "completed", creditNoteState: { closed } });
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "completed" });
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage: "completed" });
    await expect
      .poll(() => listedAs(note, "--ended"))
      .toMatchObject([{ type: "creditNote", status: "terminated", waitsFor: "a restart" }]);
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "completed", creditNote: null }]);
    const kept = async () => (await ledger.records.findSale(BUSINESS, invoice))?.creditNote?.record;
    await expect
      .poll(async () => {
        await keepClosedRuns(rig.client, ledger);
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
    expect((await ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("as its credit note was terminated between its signature and the goods' return takes them back once", async () => {
    const invoice = "NOTE-2";
    const noteId = await sold(invoice, "0");
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
    expect((await ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("as its credit note was terminated within the window: the sale asks for a retry, and is credited once", async () => {
    const invoice = "NOTE-3";
    const noteId = await sold(invoice, "1 hour");
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
    await rig.starter.refund({ invoice }, refundOf(invoice));
    await expect.poll(() => rig.simulator.documents(`CN-${invoice}`)).toHaveLength(1);
    const handle = rig.client.workflow.getHandle(noteId);
    await handle.terminate("by mistake");
    const { attentions } = await rig.stateWhen(invoice, (state) => state.attentions.length > 0);
    expect(attentions).toMatchObject([{ code: "unexpected-answer", subject: noteId }]);
    await restartCreditNote(invoice);
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "accept" }]);
    await handle.result();
    await rig.starter.retry({ invoice });
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    isCreditedOnce(invoice);
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "credited", status: "completed" }]);
    await expect.poll(() => openNumbers()).not.toContain(invoice);
    expect((await ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });
});
