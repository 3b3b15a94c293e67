import { WithStartWorkflowOperation } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import { MAIN_TASK_QUEUE, type RefundRequest, SIGNALS, UPDATES, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { triggerFault } from "../../src/dev/simulator/triggers.ts";
import { SaleConflictError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { failRun } from "../rig/fail-run.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { Held } from "../rig/held.ts";
import { resetRun } from "../rig/reset-run.ts";
import { saleOfTea, salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

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
  const { sold, parked, handleOf, result, movementsOf } = salesOf(() => rig);
  const { fiscalflow, listedAs, shown, recordedInLedger, endedNumbers, openNumbers } = viewsOf(() => rig);

  /** The first claim of a movement of this document waits. */
  function heldTake(number: string): Held {
    const held = new Held();
    takes.set(number, held);
    return held;
  }

  const kept = (invoice: string) => rig.ledger.documents.findSale(BUSINESS, invoice);

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

  async function restart(invoice: string): Promise<void> {
    const said = await fiscalflow("sale", "restart", invoice, "--note", "carry it on");
    expect(said).toMatchObject({ exitCode: 0, stderr: "" });
  }

  test("after it was terminated before the credit note's signature, after the window, credits once and returns the goods once", async () => {
    const [invoice, note] = ["NOTE-1", "CN-NOTE-1"];
    await sold(invoice, { refundWindow: "0" });
    await result(invoice);
    rig.simulator.setAuthority(note, [{ do: "down" }]);
    await rig.starter.refund({ invoice }, refundOf(invoice));
    await expect.poll(() => openNumbers()).toContain(note);
    await handleOf(invoice).terminate("by mistake");

    const ended = { stage: "crediting", closed: { status: "terminated", reason: "by mistake" } };
    expect(await shown(invoice)).toMatchObject(ended);
    expect(await rig.starter.getSale({ invoice })).toMatchObject(ended);
    expect(await rig.starter.outcome({ invoice })).toMatchObject(ended);
    await expect
      .poll(() => listedAs(invoice, "--ended"))
      .toMatchObject([{ stage: "crediting", status: "terminated", creditNote: note }]);
    await recordedInLedger("terminated", invoice);
    expect(await endedNumbers()).toContain(note);
    expect(await openNumbers()).not.toContain(note);

    await restart(invoice);
    await expect.poll(async () => (await kept(invoice))?.record).not.toHaveProperty("closed");
    await expect.poll(() => openNumbers()).toContain(note);
    const { stage } = await rig.stateWhen(invoice, (state) => state.stage === "crediting");
    expect(await rig.starter.outcome({ invoice })).toMatchObject({ stage });
    rig.simulator.setAuthority(note, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "credited" });
    isCreditedOnce(invoice);
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "credited", creditNote: note }]);
    expect(await listedAs(invoice, "--ended")).toEqual([]);
    await expect
      .poll(async () => (await kept(invoice))?.creditNote?.record)
      .toMatchObject({ stage: "credited", document: { status: "completed" } });
    for (const number of [invoice, note]) {
      expect(await endedNumbers()).not.toContain(number);
      expect(await openNumbers()).not.toContain(number);
    }
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });

  test("after it was terminated between the credit note's signature and the goods' return returns them once", async () => {
    const invoice = "NOTE-2";
    await sold(invoice, { refundWindow: "0" });
    await result(invoice);
    const first = heldTake(`CN-${invoice}`);
    await rig.starter.refund({ invoice }, refundOf(invoice));
    await expect.poll(() => first.calls).toBe(1);
    await handleOf(invoice).terminate("by mistake");
    await restart(invoice);
    await result(invoice);
    isCreditedOnce(invoice);
    // The attempt of the run before comes late, and finds that it was shut out.
    first.release();
    await expect.poll(() => first.answers).toBe(1);
    isCreditedOnce(invoice);
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "credited" });
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });

  test("that is asked for of a run that ended before it took its goods carries that run on first", async () => {
    const invoice = "NOTE-3";
    const deduction = heldTake(invoice);
    const input = saleOfTea(invoice, { refundWindow: "1 hour" });
    await rig.starter.startSaleAndWait(input, { waitSeconds: 20 });
    await expect.poll(() => deduction.calls).toBe(1);
    await handleOf(invoice).terminate("by mistake");
    expect(await rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 20 })).toMatchObject({
      stage: "credited",
    });
    expect(await result(invoice)).toMatchObject({ stage: "credited" });
    deduction.release();
    isCreditedOnce(invoice);
    await expect(rig.starter.refund({ invoice }, { ...refundOf(invoice), reason: "01" })).rejects.toThrow(
      SaleConflictError,
    );
  });

  test("at the moment of a restart is that run's refund, and its goods are taken and returned once", async () => {
    for (const invoice of ["SIDE-1", "SIDE-2", "SIDE-3"]) {
      const deduction = heldTake(invoice);
      await rig.starter.startSaleAndWait(saleOfTea(invoice, { refundWindow: "1 hour" }), { waitSeconds: 20 });
      await expect.poll(() => deduction.calls).toBe(1);
      await handleOf(invoice).terminate("by mistake");
      const [refunded] = await Promise.all([
        rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 20 }),
        // Either may be first.
        rig.starter.restart({ invoice }, { note: "carry it on" }).catch(() => undefined),
      ]);
      expect(refunded).toMatchObject({ stage: "credited" });
      expect(await result(invoice)).toMatchObject({ stage: "credited" });
      deduction.release();
      isCreditedOnce(invoice);
    }
  });

  test("asked for by hand by a number alone carries on a sale that is not signed, and is refused", async () => {
    const invoice = "ALONE-1";
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const { workflowId } = await rig.starter.startSale(saleOfTea(invoice, { stock: "off" }));
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
    await handleOf(invoice).terminate("by mistake");
    const asked = rig.client.workflow.executeUpdateWithStart(UPDATES.refund, {
      args: [refundOf(invoice)],
      startWorkflowOperation: new WithStartWorkflowOperation(WORKFLOW_TYPES.sale, {
        workflowId,
        taskQueue: MAIN_TASK_QUEUE,
        args: [{ businessId: BUSINESS.businessId, traderInvoiceNumber: invoice }],
        workflowIdConflictPolicy: "USE_EXISTING",
      }),
    });
    await expect(asked).rejects.toMatchObject({ cause: { type: "NotAllowed" } });
    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "completed", sale: { status: "completed" } });
    expect(rig.simulator.documents(invoice)).toHaveLength(1);
    expect(movementsOf(invoice)).toEqual([]);
  });

  test("that was given up before its run ended leaves the sale completed", async () => {
    const invoice = "NOTE-4";
    const deduction = heldTake(invoice);
    const input = saleOfTea(invoice, { refundWindow: "1 second" });
    await rig.starter.startSaleAndWait(input, { waitSeconds: 20 });
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "cancel" }]);
    await handleOf(invoice).signal(SIGNALS.refundRequested, refundOf(invoice));
    await parked(invoice, "rejected");
    await rig.starter.cancel({ invoice }, { reason: "the buyer keeps the goods" });
    const isGivenUp = {
      record: { stage: "completed", attentions: [] },
      creditNote: { record: { stage: "cancelled" } },
    };
    await expect.poll(() => kept(invoice)).toMatchObject(isGivenUp);
    // Its movement is left to a run that carries the sale on, and the refund is not asked for again.
    await handleOf(invoice).terminate("by mistake");
    await restart(invoice);
    await result(invoice);
    deduction.release();
    expect(movementsOf(invoice).map(({ action }) => action)).toEqual(["DEDUCT"]);
    expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "completed" });
    await expect.poll(() => listedAs(invoice)).toMatchObject([{ stage: "completed", waitsFor: "nothing" }]);
    const again = { ...refundOf(invoice), traderInvoiceNumber: "CN-NOTE-4-2" };
    expect(await rig.starter.refund({ invoice }, again, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
  });

  test.each(["restart", "reset"])(
    "is given up where a restarted run was asked for that before it began the credit note, and ended too: by a %s",
    async (by) => {
      const invoice = `NOTE-5-${by}`;
      await sold(invoice, { refundWindow: "0" });
      await result(invoice);
      const { runId } = await handleOf(invoice).describe();
      const faults = [
        rig.simulator.inject({ operation: "creditNote", when: "before", kind: "rate-limit", retryAfterSeconds: 1 }),
      ];
      await rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 0 });
      await expect.poll(async () => (await kept(invoice))?.record.stage).toBe("crediting");
      await handleOf(invoice).terminate("by mistake");
      faults.push(rig.simulator.inject(triggerFault("away", {})));
      await restart(invoice);
      await expect.poll(() => rig.starter.getSale({ invoice })).toMatchObject({ serviceTrouble: { kind: "away" } });
      const reason = "the buyer keeps the goods";
      await rig.starter.cancel({ invoice }, { reason });
      expect((await kept(invoice))?.record).toMatchObject({ creditNoteCancelRequested: reason });
      await handleOf(invoice).terminate("again");
      for (const end of faults) end();
      // A run that is reset hears of what a later one was asked for.
      if (by === "restart") await restart(invoice);
      else await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId, "last-task", runId);
      expect(await result(invoice)).toMatchObject({ stage: "completed" });
      expect(rig.simulator.documents(`CN-${invoice}`)).toEqual([]);
      expect((await kept(invoice))?.record).not.toHaveProperty("creditNoteCancelRequested");
    },
  );

  test("is given up where that was asked for before it was asked for again", async () => {
    const invoice = "NOTE-6";
    await sold(invoice, { refundWindow: "0" });
    await result(invoice);
    const limited = { operation: "creditNote", when: "before", kind: "rate-limit", retryAfterSeconds: 1 } as const;
    const serveAgain = rig.simulator.inject(limited);
    await rig.starter.refund({ invoice }, refundOf(invoice), { waitSeconds: 0 });
    await handleOf(invoice).terminate("by mistake");
    await rig.stopWorkers();
    await rig.starter.restart({ invoice }, { note: "carry it on" });
    // Temporal's own, since updates of one task have no order of ours.
    await handleOf(invoice).cancel();
    const asked = rig.starter.refund({ invoice }, refundOf(invoice));
    await rig.startWorkers();
    serveAgain();
    await asked;
    expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents(`CN-${invoice}`)).toEqual([]);
  });

  test("after the sale failed while it was refunded is carried out once", async () => {
    const invoice = "DEFECT-2";
    await sold(invoice, { refundWindow: "1 hour" });
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
    await handleOf(invoice).signal(SIGNALS.refundRequested, refundOf(invoice));
    await expect.poll(() => rig.simulator.documents(`CN-${invoice}`)).toHaveLength(1);
    await expect
      .poll(async () => (await rig.ledger.documents.findSale(BUSINESS, invoice))?.record.stage)
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
