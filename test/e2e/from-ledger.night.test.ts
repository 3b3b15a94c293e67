import type { WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import { callCli, type CliResult } from "../../src/cli/test-support/call-cli.ts";
import { type SaleInput, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { InvalidInputError, LedgerAwayError, NoAnswerError, SaleNotFoundError } from "../../src/starter/index.ts";
import { commandEnv } from "../rig/command-env.ts";
import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

describeWithTemporal("a sale whose workflow Temporal has deleted", () => {
  let rig: Rig;
  let line: CuttableLine;
  let onLine: RigOnLine;
  beforeAll(async () => {
    onLine = await startRigOnLine({
      timings: { callTimeoutMs: 1_500 },
    });
    ({ rig, line } = onLine);
  });
  afterAll(() => onLine?.close());

  const { start, parked, result, movementsOf } = salesOf(() => rig);

  const forgetSale = (invoice: string): Promise<void> => forgetWorkflow(rig, rig.starter.workflowId({ invoice }));

  function sale(...argv: string[]): Promise<CliResult> {
    return callCli(["sale", ...argv], {
      env: commandEnv(rig),
    });
  }

  test("is answered from the ledger with all that its workflow knew, and the answer names that source", async () => {
    const more: Partial<SaleInput> = { branch: "branch_2", customer: { name: "Wanjiku" } };
    await start("KEPT-1", more);
    const done = await result("KEPT-1");
    const key = { invoice: "KEPT-1" };
    const { stage, document, stockMovements, fingerprint, numberTaken, source } = await rig.starter.getSale(key);
    expect(source).toBe("ledger");
    expect(await rig.starter.outcome(key)).toMatchObject({ source: "workflow", stage: "completed" });
    await forgetSale("KEPT-1");

    const calls = rig.callsOf("KEPT-1");
    const keptBy = { workflowId: "sale/default/biz_1/KEPT-1", runId: expect.any(String) };
    const state = await rig.starter.getSale(key);
    expect(state).toMatchObject({ stage, document, stockMovements, fingerprint, numberTaken, attentions: [] });
    expect(state).toMatchObject({ source: "ledger", waitingFor: "nothing", keptAtMs: expect.any(Number), keptBy });
    expect(state.stockMovements).toMatchObject([{ state: "applied", branchId: "branch_2" }]);
    const outcome = await rig.starter.outcome(key, { waitSeconds: 20 });
    expect(outcome).toMatchObject({ stage: "completed", sale: done.sale, receipt: done.receipt, source: "ledger" });
    expect(outcome.stockMovements).toEqual(done.stockMovements);
    expect(rig.callsOf("KEPT-1")).toEqual(calls);
  });

  test("is shown by the command line from the ledger, and no question to the ledger is listed as a sale", async () => {
    await start("KEPT-2");
    await result("KEPT-2");
    await forgetSale("KEPT-2");
    const shown = await sale("show", "KEPT-2");
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    expect(shown.stdout).toMatch(
      /^Sale KEPT-2 .*\n {2}From the ledger, which wrote this on .*: no workflow of it is open\./,
    );
    expect(shown.stdout).toMatch(/\n {2}Waits for {5}nothing\n {2}Document .*, completed, total 700\.00/);
    expect(shown.stdout).toContain("KEPT-2/item_tea/sold: DEDUCT 2 of item_tea, applied");
    expect(JSON.parse((await sale("show", "KEPT-2", "--json")).stdout)).toMatchObject({
      source: "ledger",
      stage: "completed",
      document: { traderInvoiceNumber: "KEPT-2", status: "completed" },
    });
    const questions = `WorkflowType = "${WORKFLOW_TYPES.findSale}" AND FiscalBusiness = "biz_1"`;
    await expect.poll(async () => (await rig.client.workflow.count(questions)).count).toBeGreaterThan(1);
    expect((await sale("list")).stdout).not.toContain("find-sale");
  });

  test("that was refunded within its window is answered with its credit note and the returned goods", async () => {
    await start("KEPT-3", { refundWindow: "1 hour" });
    await rig.stateWhen("KEPT-3", ({ stage }) => stage === "completed");
    const refund = { reason: "06", traderInvoiceNumber: "CN-KEPT-3", restock: true } as const;
    await rig.starter.refund({ invoice: "KEPT-3" }, refund, { waitSeconds: 20 });
    const done = await result("KEPT-3");
    await forgetSale("KEPT-3");

    const state = await rig.starter.getSale({ invoice: "KEPT-3" });
    expect(state).toMatchObject({
      source: "ledger",
      stage: "credited",
      creditNote: done.creditNote,
      refund: done.refund,
    });
    expect(state.stockMovements.map(({ action, purpose }) => [action, purpose])).toEqual([
      ["DEDUCT", "sold"],
      ["ADD", "restocked"],
    ]);
    expect(await rig.starter.outcome({ invoice: "KEPT-3" })).toMatchObject({ creditNote: done.creditNote });
    const { stdout } = await sale("show", "KEPT-3");
    expect(stdout).toMatch(/From the ledger,[^]* {2}Credit note {3}\S+ CN-KEPT-3, completed/);
  });

  test("is answered with what an operator decided on its movement", async () => {
    const referenceId = "KEPT-5/item_tea/sold";
    rig.simulator.inject({ operation: "adjustStock", when: "after", kind: "drop", times: 1, match: { referenceId } });
    await start("KEPT-5");
    await parked("KEPT-5", "stock-unknown");
    const word = { applied: true, note: "seen in the journal", by: "njeri" };
    await rig.starter.resolveStock({ invoice: "KEPT-5" }, { referenceId, ...word });
    await result("KEPT-5");
    await forgetSale("KEPT-5");
    expect(await rig.starter.getSale({ invoice: "KEPT-5" })).toMatchObject({
      source: "ledger",
      attentions: [],
      stockMovements: [{ referenceId, state: "applied", decision: word }],
      decisions: [{ update: "resolveStock", code: "stock-unknown", note: "seen in the journal", by: "njeri" }],
    });
    expect((await sale("show", "KEPT-5")).stdout).toMatch(/Decisions\n.*njeri: resolveStock stock-unknown/);
  });

  test("that needed an operator says that no run carries it on, and goes on where the same sale is started again", async () => {
    const match = { referenceId: "KEPT-6/item_tea/sold" };
    rig.simulator.inject({ operation: "adjustStock", when: "after", kind: "drop", times: 1, match });
    const handle = await start("KEPT-6");
    await parked("KEPT-6", "stock-unknown");
    await expect.poll(() => isKept(handle, "stock-unknown")).toBe(true);
    await handle.terminate("a test of what the ledger tells");
    await forgetSale("KEPT-6");
    const shown = await sale("show", "KEPT-6");
    expect(shown.stdout).toContain("Needs an operator: stock-unknown");
    expect(shown.stdout).toContain("no workflow carries it on until the same sale is started again");
    expect(shown.stdout).not.toContain("fiscalflow sale resolve-stock");

    await start("KEPT-6");
    await parked("KEPT-6", "stock-unknown");
    await rig.starter.resolveStock({ invoice: "KEPT-6" }, { ...match, applied: true, note: "seen in the journal" });
    expect(await result("KEPT-6")).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(movementsOf("KEPT-6")).toHaveLength(1);
  });

  test("is not found where it never existed, or its connection is unknown to every worker", async () => {
    const key = { invoice: "NEVER" };
    for (const ask of [() => rig.starter.getSale(key), () => rig.starter.outcome(key)]) {
      const asked = ask();
      await expect(asked).rejects.toThrow(SaleNotFoundError);
      await expect(asked).rejects.toThrow(/no workflow sale\/default\/biz_1\/NEVER, and the ledger has no sale/);
    }
    const elsewhere = rig.starter.getSale({ invoice: "NEVER", connection: "elsewhere", businessId: "biz_1" });
    await expect(elsewhere).rejects.toThrow(InvalidInputError);
    await expect(elsewhere).rejects.toThrow(/expected a configured connection \("default"\), found "elsewhere"/);
  });

  test("fails a query within seconds while the ledger is away", async () => {
    await start("KEPT-7");
    await result("KEPT-7");
    await forgetSale("KEPT-7");
    line.cut();
    try {
      await expect(rig.starter.getSale({ invoice: "KEPT-7" })).rejects.toThrow(LedgerAwayError);
      const shown = await sale("show", "KEPT-7");
      expect(shown).toMatchObject({ exitCode: 1, stdout: "" });
      expect(shown.stderr).toContain("the ledger cannot be asked for the sale");
    } finally {
      line.restore();
    }
    expect(await rig.starter.getSale({ invoice: "KEPT-7" })).toMatchObject({ source: "ledger", stage: "completed" });
  });

  test("fails a query within seconds without a worker", async () => {
    await start("KEPT-8");
    await result("KEPT-8");
    await forgetSale("KEPT-8");
    await rig.stopWorkers();
    const asked = rig.starter.getSale({ invoice: "KEPT-8" });
    await expect(asked).rejects.toThrow(NoAnswerError);
    await expect(asked).rejects.toThrow(/the question to the ledger about sale KEPT-8/);
    await rig.startWorkers();
    expect(await rig.starter.getSale({ invoice: "KEPT-8" })).toMatchObject({ source: "ledger", stage: "completed" });
  });

  /** Whether the ledger has answered a note that says so. */
  async function isKept(handle: WorkflowHandle, word: string): Promise<boolean> {
    const events = (await handle.fetchHistory()).events ?? [];
    const told = events.filter(({ activityTaskScheduledEventAttributes: task }) => {
      const data = task?.activityType?.name === "noteRun" ? task.input?.payloads?.[0]?.data : undefined;
      return data && Buffer.from(data).toString().includes(word);
    });
    const ids = told.map(({ eventId }) => String(eventId));
    return events.some(({ activityTaskCompletedEventAttributes: done }) =>
      ids.includes(String(done?.scheduledEventId)),
    );
  }
});
