import { afterAll, beforeAll, expect, test } from "vitest";

import {
  type ClosedStatus,
  type EventDocument,
  type LedgerEvent,
  MAIN_TASK_QUEUE,
  nairobiInstant,
  type SaleInput,
} from "../../src/contract/index.ts";
import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { failRun } from "../rig/fail-run.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

describeWithTemporal("a sale whose run ended early and is restarted", () => {
  let rig: Rig;
  beforeAll(async () => {
    // The pause before the next look grows, as in a shop, so that it is longer than what is left of a limited run.
    rig = await startRig({ receiver: false, timings: { longestPollMs: 60_000, longestPollAfterDayMs: 60_000 } });
  });
  afterAll(() => rig?.close());
  const { handleOf, result, movementsOf } = salesOf(() => rig);
  const views = viewsOf(() => rig);
  const { fiscalflow, listedAs, shown, report, endedNumbers, openNumbers, recordedInLedger, row } = views;

  const sale = (traderInvoiceNumber: string): SaleInput => ({ traderInvoiceNumber, lines: [TEA], refundWindow: "0" });

  /** Everybody says the same of a sale that waits for its signature and whose run has ended so. */
  async function isShownAs(invoice: string, status: ClosedStatus): Promise<void> {
    const source = "ledger";
    const closed = { status, atMs: expect.any(Number) };
    expect(await shown(invoice)).toMatchObject({ source, stage: "awaiting-authority", closed });
    expect((await fiscalflow("sale", "show", invoice)).stdout).toContain(`fiscalflow sale restart ${invoice} --note`);
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "awaiting-authority", closed });
    const outcome = await rig.starter.outcome({ invoice }, { waitSeconds: 5 });
    expect(outcome).toMatchObject({ source, stage: "awaiting-authority", closed });
    expect(await rig.starter.startSale(sale(invoice))).toMatchObject({ result: "closed" });
    await expect
      .poll(() => listedAs(invoice, "--ended"))
      .toMatchObject([{ stage: "awaiting-authority", status, attention: null, waitsFor: "a restart" }]);
    await recordedInLedger(status, invoice);
    const { open, ended } = await report();
    expect(open.map(({ number }) => number)).not.toContain(invoice);
    const told = ended.documents.filter(({ number }) => number === invoice);
    expect(told).toMatchObject([{ stage: "awaiting-authority", status }]);
  }

  /** Restarted, it is signed: with the one document and the one movement of the run before. */
  async function isCarriedOn(invoice: string): Promise<void> {
    const [ended] = await listedAs(invoice, "--ended");
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
    const carriedOn = { stage: "completed", status: "completed", startedAt: ended?.startedAt };
    await expect.poll(() => listedAs(invoice)).toMatchObject([carriedOn]);
    expect(await listedAs(invoice, "--ended")).toEqual([]);
    await expect.poll(() => openNumbers()).not.toContain(invoice);
    expect(await findingsIn(rig.ledger)).toEqual([]);
  }

  async function isApplied(invoice: string): Promise<void> {
    await rig.stateWhen(invoice, ({ stage, stockMovements }) => {
      return stage === "awaiting-authority" && stockMovements[0]?.state === "applied";
    });
    await expect.poll(() => openNumbers()).toContain(invoice);
  }

  test("after it timed out takes over its document and its movement", async () => {
    // Of different lengths: when the last look comes decides what Temporal makes of the next one, which comes too late.
    const limited = [14, 15, 16].map((seconds) => ({ invoice: `LIMIT-${seconds}`, seconds }));
    const ending = limited.map(async ({ invoice, seconds }) => {
      rig.simulator.setAuthority(invoice, [{ do: "down" }]);
      // As somebody may who starts it without the starter.
      const handle = await rig.client.workflow.start("sale", {
        workflowId: rig.starter.workflowId({ invoice }),
        taskQueue: MAIN_TASK_QUEUE,
        args: [sale(invoice)],
        workflowExecutionTimeout: `${seconds} seconds`,
      });
      await isApplied(invoice);
      await expect.poll(async () => (await handle.describe()).status.name).toBe("TIMED_OUT");
    });
    await Promise.all(ending);
    for (const { invoice } of limited) {
      await isShownAs(invoice, "timed-out");
      await isCarriedOn(invoice);
    }
  });

  /** The tax figures of the month have its signed document, and events have told nothing else since it was signed. */
  async function isSigned(invoice: string): Promise<void> {
    const { stdout } = await fiscalflow("documents", "month", "--format", "csv");
    expect(stdout.split("\n").filter((line) => line.includes(invoice))).toHaveLength(1);
    const receipt = await fiscalflow("receipt", invoice);
    expect(receipt).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("SCU") });
    expect((await rig.starter.getSale({ invoice })).document).toMatchObject({ status: "completed" });
    const told = (await documentsInEvents(invoice)).map(({ receipt }) => receipt?.cuInvoiceNo);
    const signed = told.findIndex((number) => number !== undefined);
    expect(told.slice(signed)).not.toContain(undefined);
  }
  /** What the ledger's events have said of it, in their order. */
  async function documentsInEvents(invoice: string): Promise<EventDocument[]> {
    const all: LedgerEvent[] = [];
    for (;;) {
      const page = await rig.ledger.events.read(BUSINESS, all.at(-1)?.cursor);
      if (page.length === 0) break;
      all.push(...page);
    }
    return all.flatMap(({ document }) => (document?.number === invoice ? [document] : []));
  }

  const SHOWN = {
    away: { serviceTrouble: { kind: "away" } },
    credentials: { attentions: [{ code: "credentials" }] },
  };
  const isInReport = async (invoice: string) => (await openNumbers()).includes(invoice);
  test.each([
    ["restarted", "away"],
    ["reset", "credentials"],
  ] as const)("that is signed stays signed where it is %s in trouble: %s", async (how, trouble) => {
    const invoice = `SIGNED-${how}`;
    await startSigned(invoice);
    const endTrouble = rig.simulator.inject(triggerFault(trouble, {}));
    if (how === "reset") await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice }));
    else await restart(invoice);
    await expect
      .poll(() => rig.starter.getSale({ invoice }))
      .toMatchObject({ ...SHOWN[trouble], stage: expect.not.stringContaining("completed") });
    await isSigned(invoice);
    await expect.poll(() => isInReport(invoice)).toBe(trouble === "credentials");
    endTrouble();
    if (trouble === "credentials") await rig.starter.retry({ invoice });
    await isSignedAnew(invoice);
  });

  test("that is signed is signed in each later event of the ledger", async () => {
    await startSigned("SIGNED-healthy");
    await restart("SIGNED-healthy");
    await isSignedAnew("SIGNED-healthy");
    expect((await documentsInEvents("SIGNED-healthy")).length).toBeGreaterThan(1);
  });

  const cancelled = (invoice: string) => fiscalflow("sale", "cancel", invoice, "--reason", "rung up by mistake");

  test("that is signed refuses to be cancelled before it has found its document, too", async () => {
    await startSigned("CANCEL-1");
    const endTrouble = rig.simulator.inject(triggerFault("away", {}));
    await restart("CANCEL-1");
    await expect.poll(() => rig.starter.getSale({ invoice: "CANCEL-1" })).toMatchObject(SHOWN.away);
    expect(await shown("CANCEL-1")).toMatchObject({
      waitingFor: "its document, which is signed already and which this run is still to find",
    });
    expect((await fiscalflow("sale", "list")).stdout).toMatch(/CANCEL-1 +biz_1 +completed +nothing /);
    const { exitCode, stderr } = await cancelled("CANCEL-1");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /was signed before the restart or the reset.*reversed by a refund.*; allowed updates: outcome\./,
    );
    expect(await rig.starter.getSale({ invoice: "CANCEL-1" })).not.toHaveProperty("cancelRequested");
    endTrouble();
    await isSignedAnew("CANCEL-1");
    expect(await listedAs("CANCEL-1")).toMatchObject([{ stage: "completed" }]);
  });

  test("that is signed and reset refuses to be cancelled as soon as it has asked the ledger", async () => {
    await startSigned("CANCEL-3");
    const endTrouble = rig.simulator.inject(triggerFault("away", {}));
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice: "CANCEL-3" }));
    await expect.poll(() => rig.starter.getSale({ invoice: "CANCEL-3" })).toMatchObject(SHOWN.away);
    expect((await cancelled("CANCEL-3")).stderr).toMatch(/was signed before the restart or the reset/);
    endTrouble();
    await isSignedAnew("CANCEL-3");
  });

  test("that was signed meanwhile says what becomes of its cancellation, before it knows and then", async () => {
    rig.simulator.setAuthority("CANCEL-2", [{ do: "down" }]);
    await rig.starter.startSale({ ...sale("CANCEL-2"), refundWindow: "1 hour" });
    await isApplied("CANCEL-2");
    await handleOf("CANCEL-2").terminate("by mistake");
    rig.simulator.setAuthority("CANCEL-2", [{ do: "accept" }]);
    const endTrouble = rig.simulator.inject(triggerFault("away", {}));
    await rig.starter.restart({ invoice: "CANCEL-2" }, { note: "carry it on" });
    await expect.poll(() => rig.starter.getSale({ invoice: "CANCEL-2" })).toMatchObject(SHOWN.away);
    expect((await cancelled("CANCEL-2")).stdout).toMatch(/whether the run before issued the document is not known yet/);
    endTrouble();
    await rig.stateWhen("CANCEL-2", ({ stage }) => stage === "completed");
    const page = (await fiscalflow("sale", "show", "CANCEL-2")).stdout;
    expect(page).toMatch(
      /Cancellation +asked for: rung up by mistake\n +Nothing is cancelled: the document is signed\./,
    );
    expect((await cancelled("CANCEL-2")).stderr).toMatch(/A completed document cannot be cancelled/);
  });

  async function startSigned(invoice: string): Promise<void> {
    await rig.starter.startSale({ ...sale(invoice), refundWindow: "1 hour" });
    await rig.stateWhen(
      invoice,
      ({ stage, stockMovements }) => stage === "completed" && stockMovements[0]?.state === "applied",
    );
    // Opened, and answered.
    await expect.poll(() => documentsInEvents(invoice)).toHaveLength(2);
    await isSigned(invoice);
  }
  async function restart(invoice: string): Promise<void> {
    await handleOf(invoice).terminate("by mistake");
    expect(await fiscalflow("sale", "restart", invoice, "--note", "carry it on")).toMatchObject({ exitCode: 0 });
  }
  /** By its new run, which has issued and moved nothing. */
  async function isSignedAnew(invoice: string): Promise<void> {
    await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
    await isSigned(invoice);
    const page = (await fiscalflow("sale", "show", invoice)).stdout;
    const ofNewRun = page.split(/was (?:reset|restarted)/).at(-1);
    expect(ofNewRun).toMatch(/ from stock: applied before,/);
    expect(ofNewRun).not.toMatch(/Issue the sale \S+: (pending|completed)| from stock: applied,/);
    expect(rig.simulator.documents(invoice)).toHaveLength(1);
    expect(movementsOf(invoice)).toHaveLength(1);
    expect(await findingsIn(rig.ledger)).toEqual([]);
  }

  test("and whose new run ends too, before it has found the document, is told as ended, and carried on by a third", async () => {
    rig.simulator.setAuthority("AGAIN-1", [{ do: "down" }]);
    await rig.starter.startSale(sale("AGAIN-1"));
    await isApplied("AGAIN-1");
    await handleOf("AGAIN-1").terminate("by mistake");
    await recordedInLedger("terminated", "AGAIN-1");
    const endTrouble = rig.simulator.inject(triggerFault("away", {}));
    await rig.starter.restart({ invoice: "AGAIN-1" }, { note: "carry it on" });
    await expect.poll(() => openNumbers()).toContain("AGAIN-1");
    await handleOf("AGAIN-1").terminate("again");
    await recordedInLedger("terminated", "AGAIN-1");
    expect((await row("AGAIN-1"))?.closed).toMatchObject({ status: "terminated", reason: "again" });
    expect(await openNumbers()).not.toContain("AGAIN-1");
    await expect
      .poll(() => listedAs("AGAIN-1", "--ended"))
      .toMatchObject([{ status: "terminated", waitsFor: "a restart" }]);
    expect(await findingsIn(rig.ledger)).toEqual([]);
    endTrouble();
    await isCarriedOn("AGAIN-1");
  });

  test("is told from its first start: what the run before did, how it ended, and since when an answer is missing", async () => {
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 1 });
    await rig.starter.startSale(sale("FIRST-1"));
    const isAsked = () => rig.stateWhen("FIRST-1", ({ attentions }) => attentions[0]?.code === "stock-unknown");
    await isAsked();
    const first = await handleOf("FIRST-1").describe();
    await restart("FIRST-1");
    const [attention] = (await isAsked()).attentions;
    const last = await handleOf("FIRST-1").describe();
    expect(attention?.sinceMs).toBeLessThan(last.startTime.getTime());
    expect(attention?.sinceMs).toBe(attention?.evidence?.["sentAtMs"]);
    const startedAtMs = first.startTime.getTime();
    expect(await listedAs("FIRST-1")).toMatchObject([{ startedAt: nairobiInstant(startedAtMs) }]);

    const entries = (await shown("FIRST-1"))["timeline"] as { atMs: number; what: string }[];
    expect(entries[0]).toEqual({ atMs: startedAtMs, what: "started" });
    expect(entries).toContainEqual({ atMs: expect.any(Number), what: "was terminated", note: "by mistake" });
    const restarted = { atMs: last.startTime.getTime(), what: "was restarted", note: "carry it on" };
    expect(entries).toContainEqual(restarted);
    const whats = (ofNewRun: boolean) =>
      entries.filter(({ atMs }) => atMs >= restarted.atMs === ofNewRun).map(({ what }) => what);
    expect(whats(false)).toContainEqual(expect.stringMatching(/^Take .* from stock: unknown$/));
    expect(whats(true)).toContainEqual(expect.stringMatching(/^Take .* from stock: unknown before$/));
    expect(whats(true)).not.toContainEqual(expect.stringMatching(/^Take .* from stock: unknown$/));
    await rig.starter.resolveStock(
      { invoice: "FIRST-1" },
      { referenceId: "FIRST-1/item_tea/sold", applied: false, note: "looked" },
    );
    expect(await result("FIRST-1")).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
  });

  test("after it failed in the middle takes over its document and its movement", async () => {
    rig.simulator.setAuthority("DEFECT-1", [{ do: "down" }]);
    await rig.starter.startSale(sale("DEFECT-1"));
    await isApplied("DEFECT-1");
    const { runId } = await handleOf("DEFECT-1").describe();
    await failRun(rig, rig.starter.workflowId({ invoice: "DEFECT-1" }), "cannot read properties of undefined");
    expect((await handleOf("DEFECT-1").describe()).status.name).toBe("FAILED");
    await isShownAs("DEFECT-1", "failed");
    await isCarriedOn("DEFECT-1");
    // A history of another code than this one's.
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice: "DEFECT-1" }), runId);
  });
});
