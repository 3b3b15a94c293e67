import { afterAll, beforeAll, expect, test } from "vitest";

import type { RefundRequest, WorkflowState } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a credit note that the service cancelled", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { sold, result, onHand, creditNotesOf } = salesOf(() => rig);

  const refund = (invoice: string, traderInvoiceNumber: string) => {
    const request: RefundRequest = { reason: "06", traderInvoiceNumber, restock: true };
    return rig.starter.refund({ invoice }, request, { waitSeconds: 20 });
  };

  /** The sale's id; its credit note needs an operator. */
  async function cancelled(invoice: string): Promise<string> {
    const { sale } = await sold(invoice);
    const saleId = sale?.id ?? "";
    rig.simulator.setAuthority(`CN-${invoice}`, [{ do: "cancel" }]);
    expect(await refund(invoice, `CN-${invoice}`)).toMatchObject({
      stage: "crediting",
      attention: { code: "rejected", resolvedBy: ["retry", "cancel"] },
    });
    return saleId;
  }

  /** Once it needs an operator, of whom it was asked so often. */
  const parkedAgain = (invoice: string, asked: number): Promise<WorkflowState> =>
    rig.stateWhen(invoice, ({ attentions, decisions }) => attentions.length > 0 && decisions.length === asked);

  test("is submitted again by each retry, and credits the sale once the service takes it", async () => {
    const before = onHand();
    const invoice = "VOID-1";
    const saleId = await cancelled(invoice);
    const parked = {
      stage: "crediting",
      waitingFor: `the credit note CN-${invoice}, which waits for an operator: the service cancelled the credit note`,
      attentions: [{ code: "rejected", message: `Credit note CN-${invoice}: The service cancelled the credit note.` }],
    };
    expect(await parkedAgain(invoice, 0)).toMatchObject(parked);
    expect(await rig.starter.retry({ invoice }, { note: "once more" })).toMatchObject({
      message: `Trying again. Stage crediting; waits for the credit note CN-${invoice}.`,
    });
    expect(await parkedAgain(invoice, 1)).toMatchObject(parked);
    const [note] = creditNotesOf(saleId);
    rig.simulator.setDocumentStatus(note?.id ?? "", "failed");
    rig.simulator.setAuthority("CN-VOID-1", [{ do: "accept" }]);
    await rig.starter.retry({ invoice }, { note: "the service has put it right" });
    expect(await result("VOID-1")).toMatchObject({ stage: "credited", creditNote: { id: note?.id } });
    expect(rig.callsOf("CN-VOID-1").filter((call) => call === "retry")).toHaveLength(2);
    expect(creditNotesOf(saleId)).toHaveLength(1);
    expect(onHand()).toBe(before);
  });

  test("leaves its sale completed where it is given up, and another refund can follow", async () => {
    const before = onHand();
    const saleId = await cancelled("VOID-2");
    await rig.starter.cancel({ invoice: "VOID-2" }, { reason: "under another number" });
    const { attentions, creditNote } = await rig.stateWhen("VOID-2", ({ stage }) => stage === "completed");
    expect({ attentions, creditNote }).toMatchObject({ attentions: [], creditNote: { status: "cancelled" } });
    expect(rig.callsOf("CN-VOID-2")).not.toContain("retry");
    expect(await refund("VOID-2", "CN-VOID-2-2")).toMatchObject({ stage: "credited" });
    await result("VOID-2");
    expect(creditNotesOf(saleId).map(({ status }) => status)).toEqual(["cancelled", "completed"]);
    expect(onHand()).toBe(before);
  });
});
