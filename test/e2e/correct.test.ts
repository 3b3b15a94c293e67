import { afterAll, beforeAll, expect, test } from "vitest";

import { correctionWorkflowId, type CorrectionRequest, type SaleInput } from "../../src/contract/index.ts";
import { FiscalflowError } from "../../src/starter/index.ts";
import { correctionsOf } from "../rig/corrections-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const WAIT = { waitSeconds: 20 };

describeWithTemporal("a correction", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { result, onHand, movementsOf } = salesOf(() => rig);

  const { sold, request, correct, idOf, when, documentsOf, both, settled } = correctionsOf(() => rig);

  test("credits the sale within its refund window, and issues the corrected one; the stock is right", async () => {
    const before = onHand();
    await sold("FIX-1");
    const corrected = await correct("FIX-1");
    expect(corrected).toMatchObject({
      stage: "corrected",
      invoice: "FIX-1",
      correctedBy: "FIX-1-NEW",
      receipt: { receiptLabel: "NS" },
      waitingFor: "nothing",
    });
    await settled("FIX-1");
    await expect(rig.starter.retry({ workflowId: idOf("FIX-1") })).rejects.toMatchObject({
      code: "NotAllowed",
      message: expect.stringMatching(/^The correction correct\S+ is finished and closed: it waits for nothing\.$/),
    });
    expect(documentsOf("FIX-1")).toEqual(both("FIX-1"));
    expect(onHand()).toBe(before - 3);
    expect(movementsOf("FIX-1-NEW")).toHaveLength(1);
  });

  test("of a sale whose window is over, and which Temporal has deleted, uses the ledger", async () => {
    const before = onHand();
    for (const name of ["CLOSED-1", "GONE-1"]) {
      await sold(name, { refundWindow: "0" });
      await result(name);
    }
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice: "GONE-1" }));
    for (const name of ["CLOSED-1", "GONE-1"]) {
      expect(await correct(name)).toMatchObject({ stage: "corrected" });
      await result(`${name}-NEW`);
      expect(documentsOf(name)).toEqual(both(name));
    }
    expect(onHand()).toBe(before - 6);
  });

  test("started twice at once is one; another one of the sale is refused, and the same one is found later", async () => {
    await sold("ONCE-1");
    const answers = await Promise.all([correct("ONCE-1"), correct("ONCE-1"), correct("ONCE-1")]);
    for (const answer of answers) expect(answer).toMatchObject({ stage: "corrected" });
    await expect(correct("ONCE-1", { ...request("ONCE-1"), creditNote: "CN-OTHER" })).rejects.toThrow(
      /corrected otherwise\. What differs: the credit note's number: CN-OTHER, before \S+ \(correct/,
    );
    await expect(correct("ONCE-1", request("ONCE-1", { traderInvoiceNumber: "ONCE-2" }))).rejects.toThrow(
      /What differs: of the corrected sale the number: ONCE-2, before ONCE-1-NEW/,
    );
    await settled("ONCE-1");
    await forgetWorkflow(rig, idOf("ONCE-1"));
    await expect(correct("ONCE-1", request("ONCE-1", { traderInvoiceNumber: "ONCE-2" }))).rejects.toThrow(
      /is corrected by ONCE-1-NEW/,
    );
    await forgetWorkflow(rig, idOf("ONCE-1"));
    expect(await correct("ONCE-1")).toMatchObject({ stage: "corrected", receipt: { receiptLabel: "NS" } });
    expect(documentsOf("ONCE-1")).toEqual(both("ONCE-1"));
  });

  test("goes on with other workers, wherever it was when they stopped", async () => {
    const before = onHand();
    await sold("STOPPED-1");
    rig.simulator.setAuthority("CN-STOPPED-1", [{ do: "down" }]);
    rig.simulator.setAuthority("STOPPED-1-NEW", [{ do: "down" }]);
    expect(await correct("STOPPED-1", request("STOPPED-1"), { waitSeconds: 1 })).toMatchObject({ stage: "crediting" });
    await rig.stopWorkers();
    rig.simulator.setAuthority("CN-STOPPED-1", [{ do: "accept" }]);
    await rig.startWorkers();
    await when("STOPPED-1", ({ stage }) => stage === "issuing");
    await rig.stopWorkers();
    rig.simulator.setAuthority("STOPPED-1-NEW", [{ do: "accept" }]);
    await rig.startWorkers();
    await when("STOPPED-1", ({ stage }) => stage === "corrected");
    await settled("STOPPED-1");
    expect(documentsOf("STOPPED-1")).toEqual(both("STOPPED-1"));
    expect(onHand()).toBe(before - 3);
  });

  test("that was terminated goes on when it is started again, and refuses another one meanwhile", async () => {
    await sold("KILLED-1");
    rig.simulator.setAuthority("KILLED-1-NEW", [{ do: "down" }]);
    await correct("KILLED-1", request("KILLED-1"), { waitSeconds: 0 });
    await when("KILLED-1", ({ stage }) => stage === "issuing");
    await rig.client.workflow.getHandle(idOf("KILLED-1")).terminate("by mistake");
    await expect(rig.starter.retry({ workflowId: idOf("KILLED-1") })).rejects.toThrow(
      /was terminated \("by mistake".*fiscalflow sale correct/,
    );
    await expect(correct("KILLED-1", request("KILLED-1", { traderInvoiceNumber: "KILLED-2" }))).rejects.toThrow(
      /is being corrected by KILLED-1-NEW.*start it again as it was/s,
    );
    rig.simulator.setAuthority("KILLED-1-NEW", [{ do: "accept" }]);
    expect(await correct("KILLED-1")).toMatchObject({ stage: "corrected" });
    await settled("KILLED-1");
    expect(documentsOf("KILLED-1")).toEqual(both("KILLED-1"));
  });

  test("whose corrected sale is rejected shows so, and ends once that is resolved", async () => {
    await sold("REJECTED-1");
    rig.simulator.setAuthority("REJECTED-1-NEW", [{ do: "reject", reason: "no" }]);
    await correct("REJECTED-1", request("REJECTED-1"), { waitSeconds: 0 });
    await when("REJECTED-1", ({ heldUp }) => heldUp?.what === "corrected-sale" && heldUp.code === "rejected");
    rig.simulator.setAuthority("REJECTED-1-NEW", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "REJECTED-1-NEW" });
    const { heldUp } = await when("REJECTED-1", ({ stage }) => stage === "corrected");
    expect(heldUp).toBeUndefined();
  });

  test("whose corrected sale is given up asks an operator, who can correct the sale again by another one", async () => {
    const before = onHand();
    await sold("GIVEN-UP-1");
    rig.simulator.setAuthority("GIVEN-UP-1-NEW", [{ do: "reject", reason: "no" }]);
    await correct("GIVEN-UP-1", request("GIVEN-UP-1"), { waitSeconds: 0 });
    await when("GIVEN-UP-1", ({ heldUp }) => heldUp?.code === "rejected");
    await rig.starter.cancel({ invoice: "GIVEN-UP-1-NEW" }, { reason: "a wrong PIN" });
    const [attention] = (await when("GIVEN-UP-1", ({ attentions }) => attentions.length > 0)).attentions;
    expect(attention).toMatchObject({ code: "correction-incomplete", resolvedBy: ["acknowledge"] });
    await expect(rig.starter.cancel({ workflowId: idOf("GIVEN-UP-1") }, { reason: "no" })).rejects.toThrow(
      /The sale is credited/,
    );
    const payload = { code: "correction-incomplete", note: "corrected by another one" } as const;
    await rig.starter.acknowledge({ workflowId: idOf("GIVEN-UP-1") }, payload);
    await when("GIVEN-UP-1", ({ stage }) => stage === "credited");
    const again = request("GIVEN-UP-1", { traderInvoiceNumber: "GIVEN-UP-2" });
    expect(await correct("GIVEN-UP-1", again)).toMatchObject({ stage: "corrected", correctedBy: "GIVEN-UP-2" });
    await result("GIVEN-UP-1");
    await result("GIVEN-UP-2");
    expect(onHand()).toBe(before - 3);
    const notes = rig.simulator
      .documents()
      .filter(({ traderInvoiceNumber }) => traderInvoiceNumber === "CN-GIVEN-UP-1");
    expect(notes).toHaveLength(1);
  });

  test("whose credit note is given up ends with nothing done, and leaves the sale free", async () => {
    await sold("NO-NOTE-1");
    rig.simulator.setAuthority("CN-NO-NOTE-1", [{ do: "reject", reason: "no" }]);
    await correct("NO-NOTE-1", request("NO-NOTE-1"), { waitSeconds: 0 });
    await when("NO-NOTE-1", ({ heldUp }) => heldUp?.what === "credit-note");
    await expect(rig.starter.cancel({ workflowId: idOf("NO-NOTE-1") }, { reason: "no" })).rejects.toThrow(
      /CN-NO-NOTE-1 is on its way/,
    );
    await rig.starter.cancel({ invoice: "NO-NOTE-1" }, { reason: "typed by mistake" });
    expect(await when("NO-NOTE-1", ({ stage }) => stage === "cancelled")).toMatchObject({
      message: expect.stringContaining("was given up"),
    });
    expect(documentsOf("NO-NOTE-1").map(([, status]) => status)).toEqual(["completed", "failed"]);
    const again = { ...request("NO-NOTE-1"), creditNote: "CN-NO-NOTE-2" };
    expect(await correct("NO-NOTE-1", again)).toMatchObject({ stage: "corrected" });
  });

  test("of a sale that somebody else credits meanwhile needs an operator's decision to go on", async () => {
    await sold("FOREIGN-1");
    const { document } = await rig.starter.getSale({ invoice: "FOREIGN-1" });
    const body = { traderInvoiceNumber: "CN-ELSEWHERE", returnDate: "2026-11-21", saleId: document?.id, reason: "06" };
    await fetch(`${rig.simulator.url}/v1/credit-notes?businessId=biz_1`, {
      method: "POST",
      headers: { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await correct("FOREIGN-1", request("FOREIGN-1"), { waitSeconds: 0 });
    await when("FOREIGN-1", ({ heldUp }) => heldUp?.code === "already-credited");
    await rig.starter.acknowledge(
      { invoice: "FOREIGN-1" },
      { code: "already-credited", note: "the back office did it" },
    );
    const { attentions } = await when("FOREIGN-1", (seen) => seen.attentions.length > 0);
    expect(attentions).toMatchObject([
      { code: "correction-incomplete", message: expect.stringContaining("by CN-ELSEWHERE, not by CN-FOREIGN-1") },
    ]);
    expect(documentsOf("FOREIGN-1")).toEqual([["sale", "completed", "FOREIGN-1", 700]]);
    await rig.starter.retry({ workflowId: idOf("FOREIGN-1") }, { note: "the stock is right" });
    await when("FOREIGN-1", ({ stage }) => stage === "corrected");
  });

  test("of a sale that the same credit note credits already issues the corrected sale alone", async () => {
    const before = onHand();
    await sold("ADOPT-1");
    const refund = { reason: "06", traderInvoiceNumber: "CN-ADOPT-1", restock: true } as const;
    await rig.starter.refund({ invoice: "ADOPT-1" }, refund, WAIT);
    await result("ADOPT-1");
    expect(await correct("ADOPT-1")).toMatchObject({ stage: "corrected" });
    await result("ADOPT-1-NEW");
    expect(documentsOf("ADOPT-1")).toEqual(both("ADOPT-1"));
    expect(onHand()).toBe(before - 3);
  });

  test("is refused before anything is credited where it could not be carried out", async () => {
    await sold("REFUSED-1");
    rig.simulator.setAuthority("REFUSED-2", [{ do: "down" }]);
    await rig.starter.startSale({ traderInvoiceNumber: "REFUSED-2", lines: [TEA] });
    await sold("REFUSED-3");
    await rig.starter.refund({ invoice: "REFUSED-3" }, { reason: "06", traderInvoiceNumber: "CN-REFUSED-3" }, WAIT);
    const by = (more: Partial<SaleInput>) => request("REFUSED-1", more);
    const unknownItem = by({ lines: [{ sku: "NONE", quantity: 1, unitPrice: 1 }] });
    const cases: [string, CorrectionRequest, RegExp][] = [
      ["REFUSED-0", by({}), /^NotFound: There is no sale REFUSED-0: neither Temporal nor the ledger knows it/],
      ["REFUSED-2", by({}), /^NotAllowed: .*at stage (?!completed).*only a signed sale/],
      // The goods stayed away.
      ["REFUSED-3", request("REFUSED-3"), /^Conflict: .*restock is false, not true.* does not return the goods/],
      [
        "REFUSED-3",
        { ...request("REFUSED-3"), creditNote: "CN-OTHER" },
        /^Conflict: .*creditNote is CN-REFUSED-3, not/,
      ],
      ["REFUSED-1", by({ traderInvoiceNumber: "REFUSED-3" }), /^Conflict: .*belongs to another sale/],
      ["REFUSED-1", unknownItem, /^InvalidInput: [^]*sale.lines\[0\]/],
      ["REFUSED-1", by({ traderInvoiceNumber: "REFUSED-1" }), /^InvalidInput: [^]*expected another number/],
      ["REFUSED-1", { ...by({}), creditNote: "CN-REFUSED-3" }, /^Conflict: .*credit note of another sale/],
    ];
    const unmet: string[] = [];
    for (const [invoice, asked, expected] of cases) {
      const error: unknown = await correct(invoice, asked).catch((reason: unknown) => reason);
      const said = error instanceof FiscalflowError ? `${error.code}: ${error.message}` : JSON.stringify(error);
      if (!expected.test(said)) unmet.push(said);
    }
    expect(unmet).toEqual([]);
    await expect(correct("REFUSED-3", { ...request("REFUSED-3"), creditNote: "CN-OTHER" })).rejects.toMatchObject({
      fields: ["creditNote", "restock"],
    });
    await expect(correct("REFUSED-2", by({}))).rejects.toMatchObject({ code: "NotAllowed", allowed: ["cancel"] });
    expect(await rig.starter.correction({ invoice: "REFUSED-0" })).toBeUndefined();
    expect(documentsOf("REFUSED-1")).toEqual([["sale", "completed", "REFUSED-1", 700]]);
    expect(await correct("REFUSED-1")).toMatchObject({ stage: "corrected" });
  });

  test("whose item lacks data waits for the data before anything is credited", async () => {
    await sold("LACKS-1");
    const lines = [{ itemId: "item_incomplete", quantity: 1, unitPrice: 1050 }];
    const { attentions, stage } = await correct("LACKS-1", request("LACKS-1", { lines }));
    expect({ attentions, stage }).toMatchObject({ stage: "preparing", attentions: [{ code: "item-needs-data" }] });
    expect(documentsOf("LACKS-1")).toEqual([["sale", "completed", "LACKS-1", 700]]);
    const corrected = { needs: { classificationMapping: false }, registrationStatus: "REGISTERED" };
    rig.simulator.updateItem("item_incomplete", corrected);
    await when("LACKS-1", (seen) => seen.stage === "corrected");
    expect(documentsOf("LACKS-1")).toEqual(both("LACKS-1"));
  });

  test("can be cancelled while nothing is credited, and started again", async () => {
    await sold("CANCELLED-1");
    const asked = request("CANCELLED-1", { branch: "nowhere" });
    const { attentions } = await correct("CANCELLED-1", asked);
    expect(attentions).toMatchObject([{ code: "not-found" }]);
    await rig.starter.cancel({ workflowId: idOf("CANCELLED-1") }, { reason: "no such branch" });
    expect(await when("CANCELLED-1", ({ stage }) => stage === "cancelled")).toMatchObject({
      message: "Cancelled: no such branch",
    });
    expect(documentsOf("CANCELLED-1")).toEqual([["sale", "completed", "CANCELLED-1", 700]]);
    expect(await correct("CANCELLED-1")).toMatchObject({ stage: "corrected" });
  });

  test("is found by Temporal under one id, with its sale's number and its stage", async () => {
    const workflowId = correctionWorkflowId({
      connection: "default",
      businessId: "biz_1",
      traderInvoiceNumber: "FIX-1",
    });
    expect(idOf("FIX-1")).toBe(workflowId);
    const { searchAttributes } = await rig.client.workflow.getHandle(workflowId).describe();
    expect(searchAttributes).toMatchObject({
      FiscalInvoice: ["FIX-1"],
      FiscalStage: ["corrected"],
      FiscalBusiness: ["biz_1"],
    });
  });
});
