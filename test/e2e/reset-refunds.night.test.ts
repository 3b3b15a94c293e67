import { afterAll, beforeAll, expect, test } from "vitest";

import { SIGNALS, STATE_QUERY } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

describeWithTemporal("a refund whose sale is reset", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, sold, handleOf, parked, result, movementsOf } = salesOf(() => rig);

  /** Still open for its refund, with its goods taken. */
  const soldAndOpen = (invoice: string) => sold(invoice, { refundWindow: "1 hour" });

  test("keeps what an operator decided about a movement that returned its goods", async () => {
    const invoice = "RESET-6";
    await (await start(invoice)).result();
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 1 });
    await rig.starter.refund({ invoice }, { reason: "06", traderInvoiceNumber: "CN-6", restock: true });
    const referenceId = "CN-6/item_tea/restocked";
    await parked(invoice, "stock-unknown");
    await rig.starter.resolveStock({ invoice }, { referenceId, applied: false, note: "counted" });
    await result(invoice);
    const kept = async () => (await rig.ledger.documents.findSale(BUSINESS, invoice))?.decisions;
    await expect.poll(kept).toMatchObject([{ update: "resolveStock", note: "counted" }]);

    await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId);
    const { stage, stockMovements } = await result(invoice);
    expect({ stage, stockMovements }).toMatchObject({
      stage: "credited",
      stockMovements: [{ state: "applied" }, { state: "applied", referenceId }],
    });
    const decisions = [{ update: "resolveStock", subject: referenceId, note: "counted" }];
    expect(await handleOf(invoice).query(STATE_QUERY)).toMatchObject({ decisions, waitingFor: "nothing" });
    expect(movementsOf("CN-6")).toHaveLength(1);
  });

  test("after the sale's first run had closed is found by that run where it is reset", async () => {
    const invoice = "RESET-12";
    const first = await start(invoice);
    const { runId } = await first.describe();
    await first.result();
    const refund = { reason: "06", traderInvoiceNumber: "CN-12", restock: true } as const;
    await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 });
    await result(invoice);
    await resetRun(rig.client, rig.namespace, first.workflowId, "last-task", runId);
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { traderInvoiceNumber: "CN-12" } });
    expect(rig.simulator.documents("CN-12")).toHaveLength(1);
    expect([...movementsOf(invoice), ...movementsOf("CN-12")].map(({ action }) => action)).toEqual(["DEDUCT", "ADD"]);
  });

  test("of a later run is found before the sale is completed again, and its window does not delay it", async () => {
    const invoice = "RESET-14";
    const first = await start(invoice, { refundWindow: "1 hour" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
    const { runId } = await first.describe();
    await first.cancel();
    await first.result();
    const refund = { reason: "06", traderInvoiceNumber: "CN-14", restock: true } as const;
    await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 });
    await result(invoice);
    await resetRun(rig.client, rig.namespace, first.workflowId, undefined, runId);
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { traderInvoiceNumber: "CN-14" } });
    expect(rig.simulator.documents("CN-14")).toHaveLength(1);
    expect([...movementsOf(invoice), ...movementsOf("CN-14")].map(({ action }) => action)).toEqual(["DEDUCT", "ADD"]);
  });

  test("that is asked for before a run which was reset knows its sale is carried out once that is signed", async () => {
    const invoice = "RESET-13";
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    await start(invoice, { refundWindow: "1 hour" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
    await rig.stopWorkers();
    await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId);
    const refund = { reason: "06", traderInvoiceNumber: "CN-13" } as const;
    const asked = rig.starter.refund({ invoice }, refund);
    await rig.startWorkers();
    expect(await asked).toMatchObject({ refund: { traderInvoiceNumber: "CN-13" } });
    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { traderInvoiceNumber: "CN-13" } });
  });

  test("is carried out once, with the same credit note and the goods returned once", async () => {
    await soldAndOpen("RESET-7");
    const refund = { reason: "06", traderInvoiceNumber: "CN-7", restock: true } as const;
    await rig.starter.refund({ invoice: "RESET-7" }, refund, { waitSeconds: 20 });
    await result("RESET-7");
    const kept = async () => (await rig.ledger.documents.findSale(BUSINESS, "RESET-7"))?.record;
    await expect.poll(kept).toMatchObject({ stage: "credited", refund });
    const returned = { purpose: "restocked", state: "applied" };

    await resetRun(rig.client, rig.namespace, handleOf("RESET-7").workflowId);
    const outcome = await result("RESET-7");
    expect(outcome).toMatchObject({ stage: "credited", creditNote: { traderInvoiceNumber: "CN-7" } });
    expect(outcome.stockMovements).toMatchObject([{ purpose: "sold" }, returned]);
    await expect.poll(kept).toMatchObject({ stage: "credited", refund });
    expect(rig.simulator.documents("CN-7")).toHaveLength(1);
    expect([...movementsOf("RESET-7"), ...movementsOf("CN-7")]).toHaveLength(2);
  });

  test("is carried out, although nothing of its credit note was known yet", async () => {
    const invoice = "RESET-8";
    await soldAndOpen(invoice);
    const serveAgain = rig.simulator.inject({
      operation: "creditNote",
      when: "before",
      kind: "status",
      status: 503,
    });
    const refund = { reason: "06", traderInvoiceNumber: "CN-8", restock: true } as const;
    await rig.starter.refund({ invoice }, refund, { waitSeconds: 0 });
    await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId);
    await rig.stateWhen(invoice, ({ stage, refund: taken }) => stage === "crediting" && taken !== undefined);
    serveAgain();
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { traderInvoiceNumber: "CN-8" } });
    expect(rig.simulator.documents("CN-8")).toHaveLength(1);
    expect([...movementsOf(invoice), ...movementsOf("CN-8")].map(({ action }) => action)).toEqual(["DEDUCT", "ADD"]);
  });

  test.each(["signal", "update"] as const)(
    "and was given up is not carried out, though Temporal gives the new run its %s again",
    async (by) => {
      const [invoice, traderInvoiceNumber] = [`RESET-9-${by}`, `CN-9-${by}`];
      const refund = { reason: "06", traderInvoiceNumber } as const;
      await soldAndOpen(invoice);
      rig.simulator.setAuthority(traderInvoiceNumber, [{ do: "reject", reason: "no" }]);
      if (by === "signal") await handleOf(invoice).signal(SIGNALS.refundRequested, refund);
      else await rig.starter.refund({ invoice }, refund, { waitSeconds: 0 });
      await parked(invoice, "rejected");
      await rig.starter.cancel({ invoice }, { reason: "the buyer keeps the goods" });
      const isGivenUp = () => rig.stateWhen(invoice, ({ stage, refund: asked }) => stage === "completed" && !asked);
      await isGivenUp();
      rig.simulator.setAuthority(traderInvoiceNumber, [{ do: "accept" }]);
      await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId);
      await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
      await isGivenUp();
      expect(rig.simulator.documents(traderInvoiceNumber)).toMatchObject([{ status: "failed" }]);
      await rig.starter.refund({ invoice }, { ...refund, traderInvoiceNumber: `CN-10-${by}` }, { waitSeconds: 20 });
      expect(await result(invoice)).toMatchObject({ stage: "credited" });
    },
  );

  test("is not given up by the cancellation of the refund before it", async () => {
    const invoice = "RESET-15";
    await soldAndOpen(invoice);
    rig.simulator.setAuthority("CN-15", [{ do: "reject", reason: "no" }]);
    await rig.starter.refund({ invoice }, { reason: "06", traderInvoiceNumber: "CN-15" }, { waitSeconds: 0 });
    await parked(invoice, "rejected");
    await rig.starter.cancel({ invoice }, { reason: "a mistyped number" });
    await rig.stateWhen(invoice, ({ stage, refund }) => stage === "completed" && !refund);
    // Nothing is sent of the next one, which could be given up.
    const limited = { operation: "creditNote", when: "before", kind: "rate-limit", retryAfterSeconds: 1 } as const;
    const serveAgain = rig.simulator.inject(limited);
    const next = { reason: "06", traderInvoiceNumber: "CN-16" } as const;
    await rig.starter.refund({ invoice }, next, { waitSeconds: 0 });
    await expect
      .poll(async () => (await rig.ledger.documents.findSale(BUSINESS, invoice))?.record.refund)
      .toMatchObject(next);
    await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId);
    await rig.stateWhen(invoice, ({ stage }) => stage === "crediting");
    serveAgain();
    expect(await result(invoice)).toMatchObject({ stage: "credited", creditNote: { traderInvoiceNumber: "CN-16" } });
  });

  test("is not cancelled while its document is in flight", async () => {
    const invoice = "RESET-11";
    await (await start(invoice)).result();
    rig.simulator.setAuthority("CN-11", [{ do: "down" }]);
    await rig.starter.refund({ invoice }, { reason: "06", traderInvoiceNumber: "CN-11" });
    await expect.poll(() => rig.simulator.documents("CN-11")).toHaveLength(1);
    await rig.starter.cancel({ invoice }, { reason: "the buyer keeps the goods" });
    await resetRun(rig.client, rig.namespace, handleOf(invoice).workflowId);
    await rig.stateWhen(invoice, ({ creditNote }) => creditNote?.status === "pending");
    rig.simulator.setAuthority("CN-11", [{ do: "accept" }]);
    expect(await result(invoice)).toMatchObject({ stage: "credited" });
    expect(rig.simulator.documents("CN-11")).toHaveLength(1);
  });
});
