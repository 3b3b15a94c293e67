import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale that waits for its automatic resubmission", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 2, resubmissionWindowMs: 7_200_000 } });
  });
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);

  async function rejected(invoice: string): Promise<void> {
    rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "no connection" }, { do: "accept" }]);
    await start(invoice);
    await rig.stateWhen(invoice, ({ waitingFor }) => waitingFor.startsWith("resubmission 1"));
  }

  test("is resubmitted at once by retry, and keeps who asked", async () => {
    await rejected("FORWARD-1");
    await rig.starter.retry({ invoice: "FORWARD-1" }, { note: "the line is up again", by: "njeri" });
    expect(await result("FORWARD-1")).toMatchObject({ stage: "completed", sale: { status: "completed" } });
    const { decisions } = await rig.starter.getSale({ invoice: "FORWARD-1" });
    expect(decisions).toMatchObject([{ update: "retry", code: "rejected", by: "njeri", note: "the line is up again" }]);
    expect(rig.callsOf("FORWARD-1").filter((call) => call === "retry")).toHaveLength(1);
  });

  test("stays as it is after a retry of something else, which is refused with the allowed updates", async () => {
    await rejected("FORWARD-2");
    const other = rig.starter.retry({ invoice: "FORWARD-2" }, { code: "stock-refused" });
    await expect(other).rejects.toThrow(/stock-refused.*retry, cancel/);
    expect((await rig.starter.getSale({ invoice: "FORWARD-2" })).stage).toBe("rejected");
    await rig.starter.retry({ invoice: "FORWARD-2" }, { code: "rejected" });
    expect(await result("FORWARD-2")).toMatchObject({ stage: "completed" });
  });
});

describeWithTemporal("a rejected document that is submitted again in the service's dashboard, and signed", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 0 } });
  });
  afterAll(() => rig?.close());
  const { start, sold, result, parked, movementsOf, onHand } = salesOf(() => rig);

  /** A sale whose goods are taken, and which waits for an operator. */
  async function rejected(invoice: string, more: Partial<SaleInput> = {}): Promise<void> {
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    await start(invoice, more);
    await rig.stateWhen(invoice, ({ stockMovements }) => stockMovements.some(({ state }) => state === "applied"));
    rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "no" }]);
    await parked(invoice, "rejected");
  }

  /** A sale whose credit note waits for an operator. */
  async function rejectedNote(invoice: string, number: string, callback: "auto" | "off"): Promise<void> {
    await sold(invoice, { callback });
    rig.simulator.setAuthority(number, [{ do: "reject", reason: "no" }]);
    const refund = { reason: "06", traderInvoiceNumber: number, restock: true } as const;
    await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 });
    const { attentions } = await parked(invoice, "rejected");
    expect(attentions).toMatchObject([{ message: expect.stringMatching(`^Credit note ${number}: `) as string }]);
  }

  function signElsewhere(number: string): void {
    rig.simulator.setDocumentStatus(rig.simulator.documents(number)[0]?.id ?? "", "completed");
  }

  test("completes its sale once the callback comes, without an operator", async () => {
    await rejected("ELSEWHERE-1");
    signElsewhere("ELSEWHERE-1");
    expect(await result("ELSEWHERE-1")).toMatchObject({ stage: "completed", sale: { status: "completed" } });
    expect(rig.callsOf("ELSEWHERE-1")).not.toContain("retry");
  });

  test("stays rejected after callbacks that bring nothing new, which are read ever more rarely", async () => {
    await rejected("ELSEWHERE-2");
    const reads = () => rig.callsOf("ELSEWHERE-2").filter((call) => call === "readSale").length;
    const before = reads();
    const [document] = rig.simulator.documents("ELSEWHERE-2");
    for (let come = 1; come <= 5; come++) {
      rig.simulator.redeliver(document?.id ?? "");
      await rig.stateWhen("ELSEWHERE-2", ({ callbacksReceived }) => callbacksReceived > come);
    }
    await expect.poll(reads).toBeGreaterThan(before);
    expect(reads()).toBeLessThan(before + 5);
    expect(await rig.starter.getSale({ invoice: "ELSEWHERE-2" })).toMatchObject({
      stage: "rejected",
      attentions: [{ code: "rejected" }],
    });
    await rig.starter.cancel({ invoice: "ELSEWHERE-2" }, { reason: "the customer left" });
    expect(await result("ELSEWHERE-2")).toMatchObject({ stage: "cancelled" });
  });

  test("is not submitted again by a retry", async () => {
    await rejected("ELSEWHERE-3", { callback: "off" });
    signElsewhere("ELSEWHERE-3");
    await rig.starter.retry({ invoice: "ELSEWHERE-3" }, { note: "corrected the item" });
    expect(await result("ELSEWHERE-3")).toMatchObject({ stage: "completed" });
    expect(rig.callsOf("ELSEWHERE-3")).not.toContain("retry");
  });

  test("is not cancelled, and the caller is told to refund the sale", async () => {
    const before = onHand();
    await rejected("ELSEWHERE-4", { callback: "off" });
    signElsewhere("ELSEWHERE-4");
    const reply = await rig.starter.cancel({ invoice: "ELSEWHERE-4" }, { reason: "rung up again" });
    expect(reply).toMatchObject({ stage: "completed", message: expect.stringMatching(/signed.*refund/) as string });
    expect(await result("ELSEWHERE-4")).toMatchObject({ stage: "completed", sale: { status: "completed" } });
    expect(movementsOf("ELSEWHERE-4")).toMatchObject([{ action: "DEDUCT" }]);
    expect(onHand()).toBe(before - 2);
  });

  test("is not cancelled by Temporal's own cancellation", async () => {
    await rejected("ELSEWHERE-5", { callback: "off" });
    signElsewhere("ELSEWHERE-5");
    await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "ELSEWHERE-5" })).cancel();
    expect(await result("ELSEWHERE-5")).toMatchObject({ stage: "completed", sale: { status: "completed" } });
    expect(movementsOf("ELSEWHERE-5")).toMatchObject([{ action: "DEDUCT" }]);
  });

  test("credits its sale once the callback comes, where it is a credit note", async () => {
    const before = onHand();
    await rejectedNote("ELSEWHERE-6", "CN-ELSEWHERE-6", "auto");
    signElsewhere("CN-ELSEWHERE-6");
    expect(await result("ELSEWHERE-6")).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect(onHand()).toBe(before);
  });

  test("is not given up, where it is a credit note: the sale is credited, and its goods go back", async () => {
    const before = onHand();
    await rejectedNote("ELSEWHERE-7", "CN-ELSEWHERE-7", "off");
    signElsewhere("CN-ELSEWHERE-7");
    const reply = await rig.starter.cancel({ invoice: "ELSEWHERE-7" }, { reason: "the customer keeps the goods" });
    expect(reply).toMatchObject({ stage: "credited", message: expect.stringContaining("signed") as string });
    expect(await result("ELSEWHERE-7")).toMatchObject({ stage: "credited", creditNote: { status: "completed" } });
    expect(onHand()).toBe(before);
  });

  test("is cancelled all the same where it cannot be read, once an operator says so", async () => {
    const before = onHand();
    await rejected("ELSEWHERE-8", { callback: "off" });
    rig.simulator.inject({
      operation: "readSale",
      when: "before",
      kind: "status",
      status: 404,
      match: { invoice: "ELSEWHERE-8" },
    });
    const reply = await rig.starter.cancel({ invoice: "ELSEWHERE-8" }, { reason: "the customer left" });
    expect(reply).toMatchObject({ stage: "rejected", attention: "unexpected-answer" });
    await rig.starter.acknowledge({ invoice: "ELSEWHERE-8" }, { code: "unexpected-answer", note: "it is gone" });
    expect(await result("ELSEWHERE-8")).toMatchObject({ stage: "cancelled", sale: { status: "failed" } });
    expect(onHand()).toBe(before);
  });
});
