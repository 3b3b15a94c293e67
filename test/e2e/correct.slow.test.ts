import { afterAll, beforeAll, expect, test } from "vitest";

import { type CorrectionRequest, FiscalflowError } from "../../src/starter/index.ts";
import { correctionsOf } from "../rig/corrections-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

const WAIT = { waitSeconds: 20 };

describeWithTemporal("a correction", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { result, onHand, movementsOf, handleOf } = salesOf(() => rig);

  const corrections = correctionsOf(() => rig);
  const { sold, request, correct, begin, when, documentsOf, both, settled, preparing } = corrections;

  test("credits the sale within its refund window, and issues the corrected one; the stock is right", async () => {
    const before = onHand();
    await sold("FIX-1");
    const corrected = await correct("FIX-1");
    expect(corrected).toMatchObject({
      stage: "corrected",
      invoice: "FIX-1",
      creditNote: "CN-FIX-1",
      correctedBy: "FIX-1-NEW",
      receipt: { receiptLabel: "NS" },
    });
    await settled("FIX-1");
    expect(await result("FIX-1")).toMatchObject({ stage: "credited", correction: { stage: "corrected" } });
    expect(documentsOf("FIX-1")).toEqual(both("FIX-1"));
    expect(onHand()).toBe(before - 3);
    expect(movementsOf("FIX-1-NEW")).toHaveLength(1);
  });

  test("is in the rows of both sales, and its beginning and end are events", async () => {
    const { correction, refund } = (await rig.ledger.documents.findSale(BUSINESS, "FIX-1"))?.record ?? {};
    expect(correction).toEqual({ correctedBy: "FIX-1-NEW", creditNote: "CN-FIX-1", stage: "corrected" });
    expect(refund).toMatchObject({ restock: true, replacedBy: { traderInvoiceNumber: "FIX-1-NEW" } });
    expect(refund).not.toHaveProperty("replaceWith");
    expect((await rig.ledger.documents.findSale(BUSINESS, "FIX-1-NEW"))?.record.replaces).toBe("FIX-1");
    const told = (await rig.ledger.events.read(BUSINESS)).filter(({ subject }) => subject === "correction of FIX-1");
    const about = { invoice: "FIX-1", correctedBy: "FIX-1-NEW", creditNote: "CN-FIX-1" };
    expect(told.map(({ kind, correction: said }) => [kind, said])).toEqual([
      ["correction-begun", { ...about, state: "begun" }],
      ["correction-ended", { ...about, state: "corrected" }],
    ]);
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });

  test("of a sale whose window is over, and which Temporal has deleted, uses the ledger", async () => {
    const before = onHand();
    for (const name of ["CLOSED-1", "GONE-1"]) await sold(name, { refundWindow: "0" });
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice: "GONE-1" }));
    for (const name of ["CLOSED-1", "GONE-1"]) {
      expect(await correct(name)).toMatchObject({ stage: "corrected" });
      await settled(name);
      expect(documentsOf(name)).toEqual(both(name));
    }
    expect(onHand()).toBe(before - 6);
  });

  test("asked for several times at once is one; another one of the sale is refused, and the same one is found later", async () => {
    await sold("ONCE-1");
    const answers = await Promise.all([correct("ONCE-1"), correct("ONCE-1"), correct("ONCE-1")]);
    for (const answer of answers) expect(answer).toMatchObject({ stage: "corrected" });
    const otherNote = { ...request("ONCE-1"), traderInvoiceNumber: "CN-OTHER" };
    const otherSale = request("ONCE-1", { traderInvoiceNumber: "ONCE-2" });
    const otherContent = request("ONCE-1", { lines: [TEA] });
    const { reason, traderInvoiceNumber } = request("ONCE-1");
    const refused = async (): Promise<void> => {
      await expect(correct("ONCE-1", otherNote)).rejects.toMatchObject({
        code: "Conflict",
        fields: ["traderInvoiceNumber"],
      });
      await expect(correct("ONCE-1", otherSale)).rejects.toThrow(/replaceWith is ONCE-1-NEW, not ONCE-2/);
      await expect(correct("ONCE-1", otherContent)).rejects.toThrow(/replaceWith is a sale ONCE-1-NEW with other/);
      const plain = { reason, traderInvoiceNumber, restock: true };
      await expect(rig.starter.refund({ invoice: "ONCE-1" }, plain, WAIT)).rejects.toThrow(
        /replaceWith is ONCE-1-NEW, not none/,
      );
    };
    await settled("ONCE-1");
    await refused();
    await forgetWorkflow(rig, rig.starter.workflowId({ invoice: "ONCE-1" }));
    await refused();
    expect(await correct("ONCE-1")).toMatchObject({ stage: "corrected", correctedBy: "ONCE-1-NEW" });
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

  test("whose sale was terminated goes on when it is asked for again, and refuses another one meanwhile", async () => {
    const before = onHand();
    await sold("KILLED-1");
    rig.simulator.setAuthority("KILLED-1-NEW", [{ do: "down" }]);
    await begin("KILLED-1");
    await when("KILLED-1", ({ stage }) => stage === "issuing");
    await rig.simulator.until(() => documentsOf("KILLED-1").length === 3);
    await handleOf("KILLED-1").terminate("by mistake");
    const another = request("KILLED-1", { traderInvoiceNumber: "KILLED-2" });
    await expect(correct("KILLED-1", another)).rejects.toThrow(/replaceWith is KILLED-1-NEW, not KILLED-2/);
    rig.simulator.setAuthority("KILLED-1-NEW", [{ do: "accept" }]);
    expect(await correct("KILLED-1")).toMatchObject({ stage: "corrected" });
    await settled("KILLED-1");
    expect(documentsOf("KILLED-1")).toEqual(both("KILLED-1"));
    expect(onHand()).toBe(before - 3);
  });

  test("whose corrected sale is rejected shows so, and ends once that is resolved", async () => {
    await sold("REJECTED-1");
    rig.simulator.setAuthority("REJECTED-1-NEW", [{ do: "reject", reason: "no" }]);
    await begin("REJECTED-1");
    await when("REJECTED-1", ({ heldUp }) => heldUp === "rejected");
    rig.simulator.setAuthority("REJECTED-1-NEW", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "REJECTED-1-NEW" });
    const { heldUp } = await when("REJECTED-1", ({ stage }) => stage === "corrected");
    expect(heldUp).toBeUndefined();
  });

  test("whose corrected sale is given up asks an operator, and ends without it once that is acknowledged", async () => {
    const before = onHand();
    await sold("GIVEN-UP-1");
    rig.simulator.setAuthority("GIVEN-UP-1-NEW", [{ do: "reject", reason: "no" }]);
    await begin("GIVEN-UP-1");
    await when("GIVEN-UP-1", ({ heldUp }) => heldUp === "rejected");
    await rig.starter.cancel({ invoice: "GIVEN-UP-1-NEW" }, { reason: "a wrong PIN" });
    const { attentions } = await when("GIVEN-UP-1", (seen) => seen.attentions.length > 0);
    expect(attentions).toMatchObject([{ code: "correction-incomplete", resolvedBy: ["acknowledge"] }]);
    const payload = { code: "correction-incomplete", note: "sold anew by hand" } as const;
    await rig.starter.acknowledge({ invoice: "GIVEN-UP-1" }, payload);
    await when("GIVEN-UP-1", ({ stage }) => stage === "credited");
    await settled("GIVEN-UP-1");
    expect(await correct("GIVEN-UP-1")).toMatchObject({ stage: "credited" });
    expect(onHand()).toBe(before);
  });

  test("whose credit note is given up ends with nothing done, and leaves the sale and the number free", async () => {
    await sold("NO-NOTE-1");
    rig.simulator.setAuthority("CN-NO-NOTE-1", [{ do: "reject", reason: "no" }]);
    await begin("NO-NOTE-1");
    await when("NO-NOTE-1", ({ attentions }) => attentions.length > 0);
    await rig.starter.cancel({ invoice: "NO-NOTE-1" }, { reason: "typed by mistake" });
    await when("NO-NOTE-1", ({ stage }) => stage === "cancelled");
    expect(documentsOf("NO-NOTE-1").map(([, status]) => status)).toEqual(["completed", "failed"]);
    const row = async () => (await rig.ledger.documents.findSale(BUSINESS, "NO-NOTE-1-NEW"))?.record.stage;
    await expect.poll(row).toBe("cancelled");
    const again = { ...request("NO-NOTE-1"), traderInvoiceNumber: "CN-NO-NOTE-2" };
    expect(await correct("NO-NOTE-1", again)).toMatchObject({ stage: "corrected", correctedBy: "NO-NOTE-1-NEW" });
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
    await begin("FOREIGN-1");
    await when("FOREIGN-1", ({ attentions }) => attentions[0]?.code === "already-credited");
    await rig.starter.acknowledge(
      { invoice: "FOREIGN-1" },
      { code: "already-credited", note: "the back office did it" },
    );
    const { attentions } = await when("FOREIGN-1", (seen) => seen.attentions[0]?.code === "correction-incomplete");
    expect(attentions).toMatchObject([
      { subject: "FOREIGN-1-NEW", message: expect.stringContaining("another credit note than CN-FOREIGN-1") },
    ]);
    expect(documentsOf("FOREIGN-1")).toEqual([["sale", "completed", "FOREIGN-1", 700]]);
    await rig.starter.retry({ invoice: "FOREIGN-1" }, { note: "the stock is right" });
    await when("FOREIGN-1", ({ stage }) => stage === "corrected");
  });

  test("of a sale that the same credit note credits already is refused: the corrected sale is a new one", async () => {
    await sold("PLAIN-1");
    const refund = { reason: "06", traderInvoiceNumber: "CN-PLAIN-1", restock: true } as const;
    await rig.starter.refund({ invoice: "PLAIN-1" }, refund, WAIT);
    await result("PLAIN-1");
    await expect(correct("PLAIN-1")).rejects.toMatchObject({
      code: "Conflict",
      fields: ["replaceWith"],
      message: expect.stringMatching(/replaceWith is none, not PLAIN-1-NEW.*Start the corrected sale as a new sale/),
    });
    expect(documentsOf("PLAIN-1")).toHaveLength(2);
  });

  test("is refused before anything is credited where it could not be carried out", async () => {
    await sold("REFUSED-1");
    rig.simulator.setAuthority("REFUSED-2", [{ do: "down" }]);
    await rig.starter.startSale({ traderInvoiceNumber: "REFUSED-2", lines: [TEA] });
    await sold("REFUSED-3");
    await rig.starter.refund({ invoice: "REFUSED-3" }, { reason: "06", traderInvoiceNumber: "CN-REFUSED-3" }, WAIT);
    await sold("REFUSED-4", { lines: [{ ...TEA, quantity: 3 }] });
    const by = (more: Partial<CorrectionRequest["replaceWith"]>) => request("REFUSED-1", more);
    const unknownItem = by({ lines: [{ sku: "NONE", quantity: 1, unitPrice: 1 }] });
    const lacking = by({ lines: [{ itemId: "item_incomplete", quantity: 1, unitPrice: 1050 }] });
    const cases: [string, CorrectionRequest, RegExp][] = [
      ["REFUSED-0", by({}), /^NotFound: .*REFUSED-0/],
      ["REFUSED-2", by({}), /^NotAllowed: Only a completed sale can be refunded/],
      ["REFUSED-3", request("REFUSED-3"), /^Conflict: .*replaceWith is none, not REFUSED-3-NEW/],
      ["REFUSED-1", by({ traderInvoiceNumber: "REFUSED-3" }), /^Conflict: .*belongs to another sale.*Nothing was cred/],
      ["REFUSED-1", by({ traderInvoiceNumber: "REFUSED-4" }), /^Conflict: .*REFUSED-4 is sold already/],
      ["REFUSED-1", by({ branch: "nowhere" }), /^Conflict: .*cannot be issued: .*Nothing was credited/],
      ["REFUSED-1", by({ businessId: "biz_2" }), /^Conflict: [^]*businessId: expected biz_1/],
      ["REFUSED-1", unknownItem, /^Conflict: [^]*replaceWith.lines\[0\]/],
      ["REFUSED-1", lacking, /^Conflict: .*item_incomplete\) lacks classificationMapping/],
      ["REFUSED-1", by({ traderInvoiceNumber: "REFUSED-1" }), /^InvalidInput: [^]*expected another number/],
      ["REFUSED-1", { ...by({}), traderInvoiceNumber: "CN-REFUSED-3" }, /^Conflict: .*credit note of another sale/],
    ];
    const unmet: string[] = [];
    for (const [invoice, asked, expected] of cases) {
      const error: unknown = await correct(invoice, asked).catch((reason: unknown) => reason);
      const said = error instanceof FiscalflowError ? `${error.code}: ${error.message}` : JSON.stringify(error);
      if (!expected.test(said)) unmet.push(said);
    }
    expect(unmet).toEqual([]);
    await expect(begin("REFUSED-1", lacking)).rejects.toMatchObject({ code: "Conflict", fields: ["replaceWith"] });
    expect(documentsOf("REFUSED-1")).toEqual([["sale", "completed", "REFUSED-1", 700]]);
    expect((await rig.ledger.documents.findSale(BUSINESS, "REFUSED-1-NEW"))?.record.stage).toBe("cancelled");
    expect((await rig.starter.getSale({ invoice: "REFUSED-1" })).attentions).toEqual([]);
    expect(await correct("REFUSED-1")).toMatchObject({ stage: "corrected" });
  });

  test("that nobody waits for shows an operator what stands against it", async () => {
    await sold("SHOWN-1");
    const lines = [{ sku: "NONE", quantity: 1, unitPrice: 1 }];
    await handleOf("SHOWN-1").signal("refundRequested", request("SHOWN-1", { lines }));
    const { attentions } = await rig.stateWhen("SHOWN-1", (state) => state.attentions.length > 0);
    expect(attentions).toMatchObject([
      { code: "unexpected-answer", message: expect.stringContaining("replaceWith.lines[0]") },
    ]);
    const seen = { code: "unexpected-answer", note: "the item's name was wrong" } as const;
    await rig.starter.acknowledge({ invoice: "SHOWN-1" }, seen);
    await rig.stateWhen("SHOWN-1", ({ stage }) => stage === "completed");
    await handleOf("SHOWN-1").signal("refundRequested", { ...request("SHOWN-1"), replaceWith: { lines: 7 } });
    expect(await correct("SHOWN-1")).toMatchObject({ stage: "corrected" });
  });

  test("reserves the corrected sale's number: no other sale has it, and a till that tries holds nothing up", async () => {
    const before = onHand();
    await corrections.crediting("RESERVED-1");
    const other = { traderInvoiceNumber: "RESERVED-1-NEW", lines: [TEA] };
    await expect(rig.starter.startSaleAndWait(other, WAIT)).rejects.toMatchObject({ code: "Conflict" });
    await sold("RESERVED-2");
    const taken = request("RESERVED-2", { traderInvoiceNumber: "RESERVED-1-NEW" });
    await expect(correct("RESERVED-2", taken)).rejects.toThrow(/corrects another sale, RESERVED-1/);
    rig.simulator.setAuthority("CN-RESERVED-1", [{ do: "accept" }]);
    await corrections.isCorrectedOnce("RESERVED-1", before - 2);
  });

  test("can be cancelled while nothing is credited, and asked for again", async () => {
    await sold("CANCELLED-1");
    const serveAgain = await preparing("CANCELLED-1");
    await rig.starter.cancel({ invoice: "CANCELLED-1" }, { reason: "the wrong sale" });
    await when("CANCELLED-1", ({ stage }) => stage === "cancelled");
    expect(documentsOf("CANCELLED-1")).toEqual([["sale", "completed", "CANCELLED-1", 700]]);
    serveAgain();
    expect(await correct("CANCELLED-1")).toMatchObject({ stage: "corrected" });
  });

  test("is found by Temporal in the workflow of its sale", async () => {
    const { searchAttributes } = await handleOf("FIX-1").describe();
    expect(searchAttributes).toMatchObject({ FiscalInvoice: ["FIX-1"], FiscalCreditNote: ["CN-FIX-1"] });
    const { memo } = await handleOf("FIX-1-NEW").describe();
    expect(memo).toMatchObject({ corrects: "FIX-1" });
  });
});
