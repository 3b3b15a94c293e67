import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleOutcome } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const LINES = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];

describeWithTemporal("the receipt of a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, timings: { slowAfterMs: 2_000 } });
  });
  afterAll(() => rig?.close());

  /** A sale in flight, with the id of its document and the promise of its end. */
  async function inFlight(invoice: string): Promise<{ id: string; result: Promise<SaleOutcome> }> {
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    const sale = { traderInvoiceNumber: invoice, lines: LINES, refundWindow: "0" };
    const { workflowId } = await rig.starter.startSale(sale);
    const { document } = await rig.stateWhen(invoice, (state) => state.document !== null);
    const result = rig.client.workflow.getHandle(workflowId).result() as Promise<SaleOutcome>;
    return { id: document?.id ?? "", result };
  }

  test.each([
    ["of another host", "https://sandbox.etims.example/common/link?Data=P0000000000A00"],
    ["that is missing", null],
  ])("has the API's own verification URL and never one of ours: one %s", async (what, verificationUrl) => {
    const { id, result } = await inFlight(`URL ${what}`);
    rig.simulator.setDocumentStatus(id, "completed", { receipt: { verificationUrl } });
    expect((await result).receipt).toEqual(rig.simulator.documents(`URL ${what}`)[0]?.receipt);
    expect((await result).receipt?.["verificationUrl"]).toBe(verificationUrl);
  });

  test("is waited for if the document is completed without one, and is reported missing if it does not come", async () => {
    const { id, result } = await inFlight("LATE-RECEIPT-1");
    rig.simulator.setDocumentStatus(id, "completed", { receipt: null });
    const unsigned = await rig.stateWhen("LATE-RECEIPT-1", ({ attentions }) => attentions.length > 0);
    expect(unsigned).toMatchObject({
      stage: "awaiting-authority",
      attentions: [{ code: "unexpected-answer", message: expect.stringContaining("has had no receipt") }],
    });
    rig.simulator.setDocumentStatus(id, "completed");
    expect(await result).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
    expect(rig.callsOf("LATE-RECEIPT-1").filter((operation) => operation === "createSale")).toHaveLength(1);
  });

  test("that is missing is no reason to submit the document again, however slow the authority was", async () => {
    const { id, result } = await inFlight("LATE-RECEIPT-2");
    await rig.stateWhen("LATE-RECEIPT-2", ({ attentions }) => attentions.some(({ code }) => code === "authority-slow"));
    rig.simulator.setDocumentStatus(id, "completed", { receipt: null });
    await rig.starter.retry({ invoice: "LATE-RECEIPT-2" });
    const unsigned = await rig.stateWhen("LATE-RECEIPT-2", ({ attentions }) =>
      attentions.some(({ code }) => code === "unexpected-answer"),
    );
    expect(unsigned.attentions).toMatchObject([
      { code: "unexpected-answer", message: expect.stringContaining("has had no receipt") },
    ]);
    rig.simulator.setDocumentStatus(id, "completed");
    expect(await result).toMatchObject({ stage: "completed" });
    expect(rig.callsOf("LATE-RECEIPT-2")).not.toContain("retry");
  });
});
