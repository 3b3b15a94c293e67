import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

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
