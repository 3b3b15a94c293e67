import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { creditNoteWorkflowId, reconcileWorkflowId } from "../../src/contract/index.ts";
import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("while the API is away, a sale", () => {
  let rig: Rig;
  let backAgain = (): void => undefined;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
    // The catalogue is read, so that a sale's first call is the one that issues it.
    await (await start("IN-ORDER")).result();
  });
  afterEach(() => backAgain());
  afterAll(() => rig?.close());
  const { start, sold, result, handleOf } = salesOf(() => rig);
  const { report, row, openNumbers, fiscalflow } = viewsOf(() => rig);

  function away(): void {
    backAgain = rig.simulator.inject(triggerFault("away", {}));
  }

  test("is open and at risk in the report and counted by `documents`, from its first call on, until it is signed", async () => {
    away();
    await start("AWAY-1");
    await expect.poll(openNumbers).toEqual(["AWAY-1"]);
    // The workers know by now that it is away: a sale may have to wait until its first call is even tried.
    await start("AWAY-2");
    await expect.poll(async () => (await openNumbers()).toSorted()).toEqual(["AWAY-1", "AWAY-2"]);
    await expect.poll(async () => (await row("AWAY-1"))?.stage).toBe("submitting");
    expect((await report()).open).toMatchObject([
      { type: "sale", documentId: null, attentions: [], atRisk: "700.00" },
      { type: "sale", documentId: null, attentions: [], atRisk: "700.00" },
    ]);
    expect((await fiscalflow("documents", "day")).stdout).toContain(
      "2 sales and credit notes of this period are under way",
    );
    backAgain();
    for (const invoice of ["AWAY-1", "AWAY-2"]) expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect(await openNumbers()).toEqual([]);
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("that is reset after it was signed stays signed", async () => {
    await start("RESET-1");
    await result("RESET-1");
    away();
    await resetRun(rig.client, rig.namespace, handleOf("RESET-1").workflowId);
    // The call that reads its document is held up.
    await expect.poll(async () => (await rig.starter.getSale({ invoice: "RESET-1" })).serviceTrouble).toBeDefined();
    expect(await row("RESET-1")).toMatchObject({ stage: "completed", document: { status: "completed" } });
    expect(await openNumbers()).toEqual([]);
    backAgain();
    await result("RESET-1");
  });

  test("has its credit note shown as open", async () => {
    const { sale } = await sold("REFUND-1", { refundWindow: "1 hour" });
    away();
    await rig.starter.refund(
      { invoice: "REFUND-1" },
      { reason: "06", traderInvoiceNumber: "CN-1" },
      { waitSeconds: 0 },
    );
    await expect.poll(openNumbers).toContain("CN-1");
    const { open } = await report();
    const note = { type: "credit_note", stage: "submitting", documentId: null, atRisk: "700.00" };
    expect(open.filter(({ number }) => number === "CN-1")).toMatchObject([note]);
    backAgain();
    await rig.client.workflow.getHandle(creditNoteWorkflowId({ ...BUSINESS, saleId: sale?.id ?? "" })).result();
    await result("REFUND-1");
    expect(await openNumbers()).toEqual([]);
  });

  test("has its credit note shown as open, and counted by `documents`, after the refund window too", async () => {
    await start("LATE-1");
    const { sale } = await result("LATE-1");
    const note = rig.client.workflow.getHandle(creditNoteWorkflowId({ ...BUSINESS, saleId: sale?.id ?? "" }));
    away();
    await rig.starter.refund({ invoice: "LATE-1" }, { reason: "06", traderInvoiceNumber: "CN-2" }, { waitSeconds: 0 });
    await expect.poll(openNumbers).toEqual(["CN-2"]);
    expect((await report()).open).toMatchObject([
      { type: "credit_note", stage: "submitting", documentId: null, attentions: [], atRisk: "700.00" },
    ]);
    expect((await fiscalflow("documents", "day")).stdout).toContain(
      "1 sale or credit note of this period is under way",
    );
    backAgain();
    await note.result();
    expect(await openNumbers()).toEqual([]);
    // The run reads the sale again, and comes to its document later.
    away();
    await resetRun(rig.client, rig.namespace, note.workflowId);
    await expect.poll(async () => (await note.describe()).raw.pendingActivities?.[0]?.attempt).toBeGreaterThan(1);
    expect(await openNumbers()).toEqual([]);
    backAgain();
    await note.result();
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });

  test("does not pass for one that matches, where a reconciliation has not ended by the end of its wait", async () => {
    await start("REC-1");
    await result("REC-1");
    away();
    const { exitCode, stdout } = await fiscalflow("reconcile", "--wait", "1");
    expect(stdout).toMatch(/^It goes on by itself: 0 documents checked/);
    expect(stdout).toMatch(/\nIt has not ended: until then, nothing is known to match\.\n$/);
    expect(exitCode).toBe(0);
    await rig.client.workflow.getHandle(reconcileWorkflowId(BUSINESS)).terminate();
  });
});
