import { WithStartWorkflowOperation } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import { MAIN_TASK_QUEUE, UPDATES, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { InvalidInputError, NotAllowedError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

const UNKNOWN_ITEM = { lines: [{ sku: "NO-SUCH", quantity: 2, unitPrice: 100 }] };

describeWithTemporal("a sale whose run ended without an outcome", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, startDirectly, sold, handleOf, parked, result, movementsOf } = salesOf(() => rig);

  /** How many `outcome` updates its workflow has taken up. */
  const outcomeUpdates = async (invoice: string): Promise<number> => {
    const { events } = await handleOf(invoice).fetchHistory();
    return (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
  };

  const views = viewsOf(() => rig);
  const { fiscalflow, listed, listedAs, shown, row, report, openNumbers, endedNumbers, recordedInLedger } = views;

  test("is shown as terminated by show, list, starter, report and ledger, without an attention", async () => {
    await start("END-1", UNKNOWN_ITEM);
    await parked("END-1", "item-unknown");
    await expect.poll(() => openNumbers()).toContain("END-1");
    await expect.poll(async () => (await listed("--attention")).map(({ invoice }) => invoice)).toContain("END-1");
    await handleOf("END-1").terminate("by mistake");

    const closed = { status: "terminated", reason: "by mistake", atMs: expect.any(Number) };
    expect(await shown("END-1")).toMatchObject({ closed, stage: "resolving-items" });
    const page = (await fiscalflow("sale", "show", "END-1")).stdout;
    expect(page).toMatch(/Stage {9}resolving-items \(terminated\)\n {2}Ended .*terminated \("by mistake"/);
    expect(page).toContain("fiscalflow sale restart END-1 --note '<why>'");
    expect(page).not.toContain("fiscalflow sale retry");

    const input = { traderInvoiceNumber: "END-1", ...UNKNOWN_ITEM };
    expect(await rig.starter.startSale(input)).toMatchObject({ result: "closed" });
    const again = await rig.starter.startSaleAndWait(input, { waitSeconds: 5 });
    expect(again).toMatchObject({ result: "closed", outcome: { stage: "resolving-items", closed } });
    expect(await rig.starter.outcome({ invoice: "END-1" }, { waitSeconds: 5 })).toMatchObject({ closed });

    await expect.poll(async () => (await listed("--attention")).map(({ invoice }) => invoice)).not.toContain("END-1");
    const mine = await listedAs("END-1", "--ended");
    expect(mine).toMatchObject([
      { stage: "resolving-items", status: "terminated", attention: null, waitsFor: "a restart", amount: "200" },
    ]);

    await recordedInLedger("terminated", "END-1");
    const { open, ended } = await report();
    expect(open.map(({ number }) => number)).not.toContain("END-1");
    const told = ended.documents.find(({ number }) => number === "END-1");
    expect(told).toMatchObject({ stage: "resolving-items", status: "terminated", atRisk: "200" });
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });

  test("shows no call as pending that it was terminated in the middle of", async () => {
    rig.simulator.inject({ operation: "createSale", when: "before", kind: "slow", delayMs: 5_000, times: 1 });
    await start("END-CALL");
    const calls = async () => ((await shown("END-CALL"))["pendingCalls"] ?? []) as { call: string; state: string }[];
    await expect.poll(() => calls()).toMatchObject([{ call: "createSale", state: "in-progress" }]);
    await handleOf("END-CALL").terminate("by mistake");
    expect(await shown("END-CALL")).toMatchObject({ closed: { status: "terminated" } });
    expect(await calls()).toEqual([]);
    await rig.starter.restart({ invoice: "END-CALL" }, { note: "a slip" });
    await result("END-CALL");
  });

  test("is not listed as ended, nor restarted by a query, where it was refused: its caller was told, and nothing was issued", async () => {
    const elsewhere = { traderInvoiceNumber: "REFUSED-1", lines: [TEA], connection: "elsewhere", businessId: "biz_1" };
    await expect(rig.starter.startSaleAndWait(elsewhere)).rejects.toThrow(InvalidInputError);
    const failed = 'ExecutionStatus = "Failed"';
    // The list follows the runs by a moment.
    await expect.poll(async () => (await rig.client.workflow.count(failed)).count).toBe(1);
    expect(await listedAs("REFUSED-1")).toEqual([]);
    const needing = await fiscalflow("sale", "list", "--attention");
    expect(needing.stdout).toContain(
      "1 workflow ended without an outcome, and nothing carries it on until it is restarted: fiscalflow sale list --ended",
    );
    const restart = await fiscalflow("sale", "restart", "--query", failed, "--note", "why");
    expect(restart.stdout).toMatch(/^0 found; nothing was changed/);
  });

  test("is still ended, and carried on by a restart, after another start of its number was refused", async () => {
    rig.simulator.setAuthority("END-OTHER", [{ do: "down" }]);
    await start("END-OTHER");
    await rig.stateWhen("END-OTHER", ({ stage }) => stage === "awaiting-authority");
    await handleOf("END-OTHER").terminate("by mistake");
    const other = { businessId: "biz_1", traderInvoiceNumber: "END-OTHER", lines: [{ ...TEA, quantity: 9 }] };
    const refused = await startDirectly(rig.starter.workflowId({ invoice: "END-OTHER" }), other);
    await expect(refused.result()).rejects.toMatchObject({ cause: { type: "Conflict" } });

    const closed = { status: "terminated", reason: "by mistake" };
    expect(await shown("END-OTHER")).toMatchObject({ stage: "awaiting-authority", closed });
    // Lists follow the runs by a moment.
    const ended = async () => (await listedAs("END-OTHER", "--ended")).map(({ status }) => status);
    await expect.poll(ended).toEqual(["terminated"]);
    const { workflowId } = handleOf("END-OTHER");
    const found = await fiscalflow("sale", "restart", "--query", `WorkflowId = "${workflowId}"`, "--note", "why");
    expect(found.stdout).toMatch(/END-OTHER, awaiting-authority, terminated .*\n1 found; nothing was changed/);
    await expect(rig.starter.retry({ invoice: "END-OTHER" })).rejects.toMatchObject({ allowed: ["restart"] });
    rig.simulator.setAuthority("END-OTHER", [{ do: "accept" }]);
    await rig.starter.restart({ invoice: "END-OTHER" }, { note: "by mistake" });
    expect(await result("END-OTHER")).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("END-OTHER")).toMatchObject([{ lines: [{ quantity: TEA.quantity }] }]);
    const { decisions } = await rig.starter.getSale({ invoice: "END-OTHER" });
    expect(decisions).toMatchObject([{ update: "restart", note: "by mistake" }]);
  });

  test("is not restarted where it was refused, nor where it is signed: neither has anything to carry on", async () => {
    const input = { businessId: "biz_1", traderInvoiceNumber: "REFUSED-2", lines: [] };
    const refused = await startDirectly(rig.starter.workflowId({ invoice: "REFUSED-2" }), input);
    await expect(refused.result()).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
    const sale = { invoice: "REFUSED-2" };
    for (const ask of [() => rig.starter.restart(sale, { note: "why" }), () => rig.starter.retry(sale)])
      await expect(ask()).rejects.toMatchObject({
        code: "NotAllowed",
        message: expect.stringContaining(
          "What was asked of it was refused, and nothing was sent: correct that, and start",
        ),
        allowed: [],
      });
    await (await start("SIGNED-2")).result();
    const other = { ...input, traderInvoiceNumber: "SIGNED-2", lines: [{ ...TEA, quantity: 9 }] };
    const again = await startDirectly(rig.starter.workflowId({ invoice: "SIGNED-2" }), other);
    await expect(again.result()).rejects.toMatchObject({ cause: { type: "Conflict" } });
    await expect(rig.starter.restart({ invoice: "SIGNED-2" }, { note: "why" })).rejects.toMatchObject({
      code: "NotAllowed",
      allowed: ["refund"],
    });
  });

  test("is reported as terminated to callers who wait for its outcome", async () => {
    rig.simulator.setAuthority("END-6", [{ do: "down" }]);
    const input = { traderInvoiceNumber: "END-6", lines: [TEA] };
    await rig.starter.startSale(input);
    const waiting = [
      rig.starter.startSaleAndWait(input, { waitSeconds: 60 }),
      rig.starter.outcome({ invoice: "END-6" }, { waitSeconds: 60 }).then((outcome) => ({ outcome })),
    ];
    await rig.stateWhen("END-6", ({ stage }) => stage === "awaiting-authority");
    await expect.poll(() => outcomeUpdates("END-6")).toBe(2);
    await handleOf("END-6").terminate("by mistake");
    for (const { outcome } of await Promise.all(waiting)) {
      expect(outcome).toMatchObject({ stage: "awaiting-authority", closed: { status: "terminated" } });
    }
    const refund = rig.starter.refund({ invoice: "END-6" }, { reason: "06", traderInvoiceNumber: "CN-END-6" });
    await expect(refund).rejects.toThrow(NotAllowedError);
    await expect(refund).rejects.toMatchObject({ allowed: ["restart"] });
    await expect(refund).rejects.toThrow(/was terminated \("by mistake".*fiscalflow sale restart/);
  });

  test("refuses updates, and says that it can be restarted", async () => {
    for (const words of [["retry"], ["cancel", "--reason", "too late"]]) {
      const refused = await fiscalflow("sale", words[0] ?? "", "END-1", ...words.slice(1));
      expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
      expect(refused.stderr).toMatch(
        /was terminated \("by mistake".* on \d{4}-\d\d-\d\d \d\d:\d\d EAT: no update reaches it/,
      );
    }
    const done = await start("END-DONE");
    await done.result();
    const late = rig.starter.retry({ invoice: "END-DONE" });
    await expect(late).rejects.toThrow(NotAllowedError);
    await expect(late).rejects.toMatchObject({
      message: expect.stringMatching(
        /is finished and closed: it waits for nothing\. It is completed\. Allowed: a refund\.$/,
      ),
      allowed: ["refund"],
    });
    await expect(rig.starter.restart({ invoice: "END-DONE" }, { note: "again" })).rejects.toMatchObject({
      message: expect.stringMatching(/so there is nothing to carry on\. .* It is completed\. Allowed: a refund\.$/),
      allowed: ["refund"],
    });
    const note = { reason: "06", traderInvoiceNumber: "CN-END-DONE" } as const;
    await rig.starter.refund({ invoice: "END-DONE" }, note, { waitSeconds: 20 });
    const credited = / It is credited by CN-END-DONE: nothing is left to do\.$/;
    const retried = (): Promise<unknown> => rig.starter.retry({ invoice: "END-DONE" }).catch(String);
    await expect.poll(retried, { timeout: 10_000 }).toMatch(credited);
    await expect(rig.starter.restart({ invoice: "END-DONE" }, { note: "again" })).rejects.toThrow(credited);
  });

  test("can be restarted where no worker had begun it", async () => {
    await rig.stopWorkers();
    const unbegun = await start("END-UNBEGUN");
    await unbegun.terminate("by mistake");
    await rig.startWorkers();
    // A worker marks in the ledger that it ended; until then nobody knows more of it than Temporal.
    const page = async (): Promise<string> => (await fiscalflow("sale", "show", "END-UNBEGUN")).stdout;
    await expect.poll(page).toMatch(/Stage {9}resolving-items \(terminated\)\n[^]*fiscalflow sale restart END-UNBEGUN/);
    await rig.starter.restart({ invoice: "END-UNBEGUN" }, { note: "a slip" });
    expect(await result("END-UNBEGUN")).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("END-UNBEGUN")).toHaveLength(1);
  });

  test("carries out the refund that it was started with, where no worker had begun it, nor its restart", async () => {
    const invoice = "END-UNBEGUN-2";
    const refund = { reason: "06", traderInvoiceNumber: `CN-${invoice}` } as const;
    await rig.stopWorkers();
    const input = { traderInvoiceNumber: invoice, businessId: "biz_1", lines: [TEA], refundWindow: "0", refund };
    const unbegun = await startDirectly(handleOf(invoice).workflowId, input);
    await unbegun.terminate("by mistake");
    await rig.starter.restart({ invoice }, { note: "a slip" });
    await handleOf(invoice).terminate("by mistake");
    await rig.starter.restart({ invoice }, { note: "another slip" });
    await rig.startWorkers();
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect(rig.simulator.documents(invoice)).toHaveLength(1);
    expect(rig.simulator.documents(refund.traderInvoiceNumber)).toHaveLength(1);
  });

  test("is restarted once for many requests at once, and keeps who asked and why", async () => {
    await expect(rig.starter.restart({ invoice: "END-1" }, { note: " " })).rejects.toThrow(InvalidInputError);
    const [one, other] = await Promise.all(
      ["a slip", "another slip"].map((note) => rig.starter.restart({ invoice: "END-1" }, { note, by: "njeri" })),
    );
    expect(new Set([one?.result, other?.result])).toEqual(new Set(["restarted", "running"]));
    expect(one?.runId).toBe(other?.runId);
    await parked("END-1", "item-unknown");
    const { decisions, closed } = await rig.starter.getSale({ invoice: "END-1" });
    expect(closed).toBeUndefined();
    expect(decisions).toMatchObject([{ update: "restart", by: "njeri", note: expect.stringContaining("slip") }]);
    await expect(rig.starter.restart({ invoice: "END-1" }, { note: "again" })).rejects.toThrow(/is running/);

    await expect.poll(async () => (await row("END-1"))?.closed).toBeUndefined();
    expect(await openNumbers()).toContain("END-1");
    expect(await endedNumbers()).not.toContain("END-1");
    await expect.poll(() => listedAs("END-1")).toMatchObject([{ status: "running", attention: "item-unknown" }]);
    await rig.starter.cancel({ invoice: "END-1" }, { reason: "test over" });
    await expect.poll(async () => (await rig.starter.outcome({ invoice: "END-1" })).stage).toBe("cancelled");
    await result("END-1");
    const finished = rig.starter.restart({ invoice: "END-1" }, { note: "again" });
    await expect(finished).rejects.toThrow(
      /is finished, so there is nothing to carry on\..* It is cancelled, and was not signed\. .* start it again\.$/,
    );
  });

  test("takes over its document and its movement when it is restarted, and nothing is done twice", async () => {
    rig.simulator.setAuthority("END-2", [{ do: "down" }]);
    await start("END-2");
    await rig.stateWhen("END-2", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    await handleOf("END-2").terminate("by mistake");
    expect(await shown("END-2")).toMatchObject({ stage: "awaiting-authority", closed: { status: "terminated" } });
    const said = await fiscalflow("sale", "restart", "END-2", "--note", "a slip");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
    expect(said.stdout).toBe(
      "END-2: the new run takes over what the run before did, and goes on with the rest. A rejected document is submitted again.\n",
    );
    rig.simulator.setAuthority("END-2", [{ do: "accept" }]);
    expect(await result("END-2")).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(rig.simulator.documents("END-2")).toHaveLength(1);
    expect(movementsOf("END-2")).toHaveLength(1);
    expect((await shown("END-2"))["decisions"]).toMatchObject([{ update: "restart", note: "a slip" }]);
    const [kept] = [await rig.ledger.documents.findSale(BUSINESS, "END-2")];
    expect(kept?.decisions).toMatchObject([{ update: "restart", note: "a slip" }]);
    await expect.poll(async () => (await row("END-2"))?.closed).toBeUndefined();
    expect(await openNumbers()).not.toContain("END-2");
  });

  test("carries out the refund that its last run had accepted", async () => {
    rig.simulator.setAuthority("CN-END-3", [{ do: "down" }]);
    await sold("END-3");
    const refund = { reason: "06", traderInvoiceNumber: "CN-END-3", restock: true } as const;
    await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "END-3" })).signal("refundRequested", refund);
    await rig.stateWhen("END-3", ({ stage }) => stage === "crediting");
    await expect.poll(() => row("END-3")).toMatchObject({ stage: "crediting", refund });
    await handleOf("END-3").terminate("by mistake");
    await rig.starter.restart({ invoice: "END-3" }, { note: "a slip" });
    rig.simulator.setAuthority("CN-END-3", [{ do: "accept" }]);
    expect(await result("END-3")).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect([...movementsOf("END-3"), ...movementsOf("CN-END-3")].map(({ action }) => action)).toEqual([
      "DEDUCT",
      "ADD",
    ]);
    expect(rig.simulator.documents("CN-END-3")).toHaveLength(1);
  });

  test("is open for a refund again, though its record shows it as finished", async () => {
    await start("END-20", { refundWindow: "1 hour" });
    await expect.poll(() => row("END-20")).toMatchObject({ stage: "completed" });
    await rig.stateWhen("END-20", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    await handleOf("END-20").terminate("by mistake");
    await rig.starter.restart({ invoice: "END-20" }, { note: "a slip" });
    await rig.stateWhen("END-20", ({ waitingFor }) => waitingFor.startsWith("a refund, until"));
    await rig.starter.refund({ invoice: "END-20" }, { reason: "06", traderInvoiceNumber: "CN-END-20", restock: true });
    expect(await result("END-20")).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect([...movementsOf("END-20"), ...movementsOf("CN-END-20")].map(({ action }) => action)).toEqual([
      "DEDUCT",
      "ADD",
    ]);
  });

  test("does not cancel a document that its last run had sent, though that run was asked to", async () => {
    rig.simulator.setAuthority("END-5", [{ do: "down" }]);
    await start("END-5");
    await rig.stateWhen("END-5", ({ stage }) => stage === "awaiting-authority");
    await rig.starter.cancel({ invoice: "END-5" }, { reason: "wrong buyer" });
    await expect.poll(async () => (await row("END-5"))?.cancelRequested).toBe("wrong buyer");
    await handleOf("END-5").terminate("by mistake");
    await rig.starter.restart({ invoice: "END-5" }, { note: "a slip" });
    await rig.stateWhen("END-5", ({ stage }) => stage === "awaiting-authority");
    const { cancelRequested, decisions } = await rig.starter.getSale({ invoice: "END-5" });
    expect(cancelRequested).toBe("wrong buyer");
    expect(decisions).toMatchObject([
      { update: "cancel", note: "wrong buyer", by: expect.stringContaining("@") as string },
      { update: "restart", note: "a slip" },
    ]);
    rig.simulator.setAuthority("END-5", [{ do: "accept" }]);
    expect(await result("END-5")).toMatchObject({ stage: "completed", cancelRequested: "wrong buyer" });
    expect(rig.simulator.documents("END-5")).toHaveLength(1);
    expect(movementsOf("END-5")).toHaveLength(1);
  });

  test("does not cancel a document that its last run had sent, though it is started once more beside the starter", async () => {
    rig.simulator.setAuthority("END-10", [{ do: "down" }]);
    await start("END-10");
    await rig.stateWhen("END-10", ({ stage }) => stage === "awaiting-authority");
    await handleOf("END-10").terminate("by mistake");
    await rig.client.workflow.executeUpdateWithStart(UPDATES.cancel, {
      args: [{ reason: "wrong buyer" }],
      startWorkflowOperation: new WithStartWorkflowOperation(WORKFLOW_TYPES.sale, {
        workflowId: handleOf("END-10").workflowId,
        taskQueue: MAIN_TASK_QUEUE,
        args: [{ traderInvoiceNumber: "END-10", lines: [TEA], refundWindow: "0" }],
        workflowIdConflictPolicy: "FAIL",
      }),
    });
    rig.simulator.setAuthority("END-10", [{ do: "accept" }]);
    expect(await result("END-10")).toMatchObject({ stage: "completed", cancelRequested: "wrong buyer" });
    expect(rig.simulator.documents("END-10")).toHaveLength(1);
    expect(movementsOf("END-10")).toHaveLength(1);
  });

  test("is marked in the ledger when a worker starts", async () => {
    rig.simulator.setAuthority("END-4", [{ do: "down" }]);
    await start("END-4");
    await rig.stateWhen("END-4", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    await expect.poll(async () => (await row("END-4"))?.document?.id).toBeDefined();
    await handleOf("END-4").terminate("by mistake");
    // The first look of a worker that starts finds it.
    await rig.stopWorkers();
    await rig.startWorkers();
    await expect.poll(async () => (await row("END-4"))?.closed).toMatchObject({ status: "terminated" });
    expect(await endedNumbers()).toContain("END-4");
  });
});
