import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

describeWithTemporal("a cancellation", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 1, resubmissionWindowMs: 50, firstPollWithCallbackMs: 1_500 } });
  });
  afterAll(() => rig?.close());

  const { start, handleOf, onHand } = salesOf(() => rig);

  test("before the create request is carried out at once, and the number is free again", async () => {
    const handle = await start("EARLY-1", { lines: [{ sku: "NO-SUCH", quantity: 1, unitPrice: 1 }] });
    await rig.stateWhen("EARLY-1", ({ attentions }) => attentions[0]?.code === "item-unknown");
    const reply = await rig.starter.cancel({ invoice: "EARLY-1" }, { reason: "typed by mistake" });
    expect(reply).toMatchObject({ stage: "cancelled" });
    expect(await handle.result()).toMatchObject({ stage: "cancelled", sale: null, numberTaken: false });
    expect(rig.simulator.documents("EARLY-1")).toEqual([]);
    const again = await rig.starter.startSaleAndWait(
      { traderInvoiceNumber: "EARLY-1", lines: [TEA], refundWindow: "0" },
      { waitSeconds: 20 },
    );
    expect(again).toMatchObject({ result: "started", outcome: { stage: "completed" } });
    await handleOf("EARLY-1").result();
  });

  test("leaves the number to the corrected sale while the cancelled run is still ending", async () => {
    await start("EARLY-2", { lines: [{ sku: "NO-SUCH", quantity: 1, unitPrice: 1 }] });
    await rig.stateWhen("EARLY-2", ({ attentions }) => attentions[0]?.code === "item-unknown");
    await rig.starter.cancel({ invoice: "EARLY-2" }, { reason: "typed by mistake" });
    const corrected = { traderInvoiceNumber: "EARLY-2", lines: [TEA], refundWindow: "0" };
    const again = await rig.starter.startSaleAndWait(corrected, { waitSeconds: 20 });
    expect(again).toMatchObject({ result: "started", outcome: { stage: "completed" } });
    await handleOf("EARLY-2").result();
  });

  test("of a rejected sale ends it, and returns nothing that was not taken", async () => {
    const before = onHand();
    rig.simulator.setAuthority("REJECTED-1", [{ do: "reject", reason: "no" }]);
    const handle = await start("REJECTED-1");
    await rig.stateWhen("REJECTED-1", ({ attentions }) => attentions[0]?.code === "rejected");
    await rig.starter.cancel({ invoice: "REJECTED-1" }, { reason: "the customer left" });
    expect(await handle.result()).toMatchObject({
      stage: "cancelled",
      sale: { status: "failed" },
      stockMovements: [],
      numberTaken: true,
    });
    expect(onHand()).toBe(before);
  });

  test("of a document in flight is kept as a request, and carried out when the document fails, with the stock given back", async () => {
    const before = onHand();
    rig.simulator.setAuthority("WISH-1", [{ do: "down" }]);
    const handle = await start("WISH-1");
    await rig.stateWhen(
      "WISH-1",
      ({ stage, stockMovements }) => stage === "awaiting-authority" && stockMovements[0]?.state === "applied",
    );
    expect(onHand()).toBe(before - 2);
    const reply = await rig.starter.cancel({ invoice: "WISH-1" }, { reason: "changed my mind" });
    expect(reply.stage).toBe("awaiting-authority");
    const word = { update: "cancel", note: "changed my mind", by: expect.stringContaining("@") as string };
    const { decisions } = await rig.starter.getSale({ invoice: "WISH-1" });
    expect(decisions).toEqual([{ ...word, atMs: expect.any(Number) as number }]);
    rig.simulator.setAuthority("WISH-1", [{ do: "reject", reason: "too late" }]);
    expect(await handle.result()).toMatchObject({
      stage: "cancelled",
      sale: { status: "failed" },
      stockMovements: [{ state: "applied" }, { purpose: "undone", action: "ADD", state: "applied" }],
    });
    expect((await rig.ledger.documents.findSale(BUSINESS, "WISH-1"))?.decisions).toEqual(decisions);
    expect(rig.simulator.documents("WISH-1")).toMatchObject([{ submissions: 1 }]);
    expect(onHand()).toBe(before);
  });

  test("of a document in flight that completes all the same is answered by the completed sale", async () => {
    rig.simulator.setAuthority("WISH-2", [{ do: "down" }]);
    const handle = await start("WISH-2");
    await rig.stateWhen("WISH-2", ({ stage }) => stage === "awaiting-authority");
    await rig.starter.cancel({ invoice: "WISH-2" }, { reason: "changed my mind" });
    rig.simulator.setAuthority("WISH-2", [{ do: "accept" }]);
    expect(await handle.result()).toMatchObject({ stage: "completed", sale: { status: "completed" } });
  });

  test("by the service ends the sale as cancelled and gives its stock back", async () => {
    const before = onHand();
    rig.simulator.setAuthority("SERVICE-1", [{ do: "cancel", afterMs: 200 }]);
    const handle = await start("SERVICE-1");
    expect(await handle.result()).toMatchObject({ stage: "cancelled", sale: { status: "cancelled" } });
    expect(onHand()).toBe(before);
  });
});

describeWithTemporal("a sale whose creation the API limited, unsent", () => {
  let rig: Rig;
  beforeAll(async () => {
    const untrusted = { createSale: { idempotencyKey: "off" } };
    rig = await startRig({ receiver: false, env: { COMPLIANCE_DIALECT: JSON.stringify(untrusted) } });
  });
  afterAll(() => rig?.close());
  const { start } = salesOf(() => rig);

  test("is cancelled at once, and not sent again", async () => {
    const limited = { when: "before", kind: "rate-limit", retryAfterSeconds: 600, times: 1 } as const;
    rig.simulator.inject({ operation: "createSale", ...limited });
    const handle = await start("LIMITED-1");
    await rig.stateWhen("LIMITED-1", ({ serviceTrouble }) => serviceTrouble?.kind === "rate-limited");
    await rig.starter.cancel({ invoice: "LIMITED-1" }, { reason: "the customer left" });
    expect(await handle.result()).toMatchObject({ stage: "cancelled", sale: null });
    expect(rig.callsOf("LIMITED-1")).toEqual(["createSale"]);
  });
});

describeWithTemporal("a cancelled sale that is reset once its document was signed in the service's dashboard", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, timings: { resubmissions: 0 } });
  });
  afterAll(() => rig?.close());
  const { start, result, parked, movementsOf, onHand } = salesOf(() => rig);

  test.each([
    ["SIGNED-LATER-1", undefined],
    ["SIGNED-LATER-2", { activity: "adjustStock" }],
    ["SIGNED-LATER-3", { activity: "awaitDocument", last: true }],
    ["SIGNED-LATER-4", { activity: "noteRun" }],
  ])("shows that its goods were given back, and takes nothing by itself: %s", async (invoice, to) => {
    const before = onHand();
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    await start(invoice);
    await rig.stateWhen(invoice, ({ stockMovements }) => stockMovements[0]?.state === "applied");
    rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "no" }]);
    await parked(invoice, "rejected");
    await rig.starter.cancel({ invoice }, { reason: "by mistake" });
    expect(await result(invoice)).toMatchObject({ stage: "cancelled" });
    rig.simulator.setDocumentStatus(rig.simulator.documents(invoice)[0]?.id ?? "", "completed");
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice }), to);

    const subject = `${invoice}/item_tea/sold`;
    const { attentions } = await parked(invoice, "stock-refused");
    const message = expect.stringMatching(/given back.*by hand/) as string;
    expect(attentions).toMatchObject([{ subject, message, resolvedBy: ["acknowledge"] }]);
    await rig.starter.acknowledge({ invoice }, { code: "stock-refused", note: "taken by hand" });
    expect(await result(invoice)).toMatchObject({
      stage: "completed",
      stockMovements: [
        { purpose: "sold", state: "applied" },
        { purpose: "undone", undoes: subject, state: "applied" },
      ],
    });
    expect(movementsOf(invoice)).toMatchObject([{ action: "DEDUCT" }, { action: "ADD" }]);
    expect(onHand()).toBe(before);
  });

  test("has them given back by its refund, where an operator decides that they had not been", async () => {
    const before = onHand();
    const invoice = "SIGNED-LATER-5";
    const [taken, undone] = ["sold", "undone"].map((purpose) => `${invoice}/item_tea/${purpose}`);
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const lost = { operation: "adjustStock", when: "before", kind: "drop", times: 1 } as const;
    rig.simulator.inject({ ...lost, match: { referenceId: undone ?? "" } });
    await start(invoice, { refundWindow: "1 hour" });
    await rig.stateWhen(invoice, ({ stockMovements }) => stockMovements[0]?.state === "applied");
    rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "no" }]);
    await parked(invoice, "rejected");
    await rig.starter.cancel({ invoice }, { reason: "by mistake" });
    await parked(invoice, "stock-unknown");
    rig.simulator.setDocumentStatus(rig.simulator.documents(invoice)[0]?.id ?? "", "completed");
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice }), { activity: "adjustStock" });

    await parked(invoice, "stock-unknown");
    const word = { referenceId: undone ?? "", applied: false, note: "not in the journal" };
    await rig.starter.resolveStock({ invoice }, word);
    await rig.stateWhen(invoice, ({ stockMovements }) => stockMovements.at(-1)?.state === "dropped");
    const note = { reason: "06", traderInvoiceNumber: `CN-${invoice}`, restock: true } as const;
    await rig.starter.refund({ invoice }, note, { waitSeconds: 20 });
    expect(await result(invoice)).toMatchObject({ stage: "credited" });
    expect(movementsOf(invoice)).toMatchObject([{ referenceId: taken, action: "DEDUCT" }]);
    expect(movementsOf(note.traderInvoiceNumber)).toMatchObject([{ action: "ADD" }]);
    expect(onHand()).toBe(before);
  });
});

describeWithTemporal("a sale in flight that has taken its goods, whose next run finds its document refused", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, timings: { resubmissions: 0 } });
  });
  afterAll(() => rig?.close());
  const { start, result, parked, handleOf, movementsOf, onHand } = salesOf(() => rig);

  /** Its goods are taken, the document is not signed yet. */
  async function taken(invoice: string): Promise<string> {
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    await start(invoice);
    await rig.stateWhen(invoice, ({ stockMovements }) => stockMovements[0]?.state === "applied");
    return rig.simulator.documents(invoice)[0]?.id ?? "";
  }
  const GIVEN_BACK = {
    stage: "cancelled",
    stockMovements: [
      { purpose: "sold", state: "applied" },
      { purpose: "undone", state: "applied" },
    ],
  };

  test("gives them back where it is terminated, the service cancels the document, and it is restarted", async () => {
    const [before, invoice] = [onHand(), "NEXT-1"];
    const documentId = await taken(invoice);
    await handleOf(invoice).terminate("by mistake");
    rig.simulator.setDocumentStatus(documentId, "cancelled");
    await rig.starter.restart({ invoice }, { note: "it was a mistake" });
    expect(await result(invoice)).toMatchObject(GIVEN_BACK);
    expect(onHand()).toBe(before);
  });

  test.each([
    ["NEXT-2", undefined],
    ["NEXT-3", { activity: "createSale" }],
  ])(
    "gives them back where it is reset, the document is rejected, and somebody cancels it: %s",
    async (invoice, to) => {
      const before = onHand();
      const documentId = await taken(invoice);
      rig.simulator.setDocumentStatus(documentId, "failed");
      await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice }), to);
      await parked(invoice, "rejected");
      await rig.starter.cancel({ invoice }, { reason: "the customer left" });
      expect(await result(invoice)).toMatchObject(GIVEN_BACK);
      expect(movementsOf(invoice)).toMatchObject([{ action: "DEDUCT" }, { action: "ADD" }]);
      expect(onHand()).toBe(before);
    },
  );

  test("closes the claim of what was not sent, so that a late attempt takes nothing", async () => {
    const [before, invoice] = [onHand(), "NEXT-4"];
    rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "no" }]);
    await start(invoice);
    await parked(invoice, "rejected");
    await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice }));
    await parked(invoice, "rejected");
    await rig.starter.cancel({ invoice }, { reason: "the customer left" });
    expect(await result(invoice)).toMatchObject({ stage: "cancelled", stockMovements: [] });
    const key = { ...BUSINESS, referenceId: `${invoice}/item_tea/sold` };
    expect(await rig.ledger.stock.read(key)).toMatchObject({ kind: "superseded" });
    expect(onHand()).toBe(before);
  });

  test.each(["SIGNED-1", "SIGNED-2"])(
    "is found signed where it is reset, and somebody cancels it at once: %s",
    async (invoice) => {
      await start(invoice);
      const { sale } = await result(invoice);
      await rig.stopWorkers();
      const to = invoice === "SIGNED-1" ? { activity: "createSale" } : undefined;
      await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice }), to);
      await handleOf(invoice).cancel();
      await rig.startWorkers();
      expect(await result(invoice)).toMatchObject({ stage: "completed", sale: { id: sale?.id } });
      expect(movementsOf(invoice)).toMatchObject([{ action: "DEDUCT" }]);
    },
  );
});
