import { afterAll, beforeAll, expect, test } from "vitest";

import type { RefundRequest, SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { SaleConflictError } from "../../src/starter/index.ts";
import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

/** docs/ledger.md, "A number stays taken": of credit notes too. */
describeWithTemporal("the number of a credit note", () => {
  let rig: Rig;
  let line: CuttableLine;
  let onLine: RigOnLine;
  beforeAll(async () => {
    onLine = await startRigOnLine();
    ({ rig, line } = onLine);
  });
  afterAll(() => onLine?.close());
  const { result, onHand, handleOf, parked } = salesOf(() => rig);

  const open = { refundWindow: "1 hour" };

  async function sold(traderInvoiceNumber: string, more: Partial<SaleInput> = open): Promise<string> {
    const { outcome } = await rig.starter.startSaleAndWait(
      { traderInvoiceNumber, lines: [TEA], ...more },
      { waitSeconds: 20 },
    );
    if (outcome?.stage !== "completed") throw new Error(`not completed: ${JSON.stringify(outcome)}`);
    if (more.refundWindow === "0") await result(traderInvoiceNumber);
    else await rig.stateWhen(traderInvoiceNumber, ({ stockMovements }) => stockMovements[0]?.state === "applied");
    return outcome.sale?.id ?? "";
  }

  const request = (number: string): RefundRequest => ({ reason: "06", traderInvoiceNumber: number, restock: true });
  const refund = (invoice: string, number: string): Promise<SaleOutcome> =>
    rig.starter.refund({ invoice }, request(number), { waitSeconds: 20 });
  const conflictOf = async (refunding: Promise<unknown>): Promise<string> => {
    const error: unknown = await refunding.catch((thrown: unknown) => thrown);
    if (!(error instanceof SaleConflictError)) throw new Error("a conflict was expected", { cause: error });
    return error.message;
  };
  const notesUnder = (number: string) => rig.simulator.documents(number);

  test("that is the sale's own is refused as invalid input for every caller, and nothing is sent", async () => {
    const invalid = /expected a number of the credit note's own, found that of the sale/;
    await sold("OWN-1");
    const handle = handleOf("OWN-1");
    await expect(refund("OWN-1", "OWN-1")).rejects.toMatchObject({
      name: "InvalidInputError",
      problems: [expect.stringMatching(invalid)],
    });
    await expect(handle.executeUpdate("refund", { args: [request("OWN-1")] })).rejects.toMatchObject({
      cause: { type: "InvalidInput", message: expect.stringMatching(invalid) as string },
    });
    await handle.signal("refundRequested", request("OWN-1"));
    const input = { traderInvoiceNumber: "OWN-3", refund: request("OWN-3") };
    const start = { workflowId: handleOf("OWN-3").workflowId, taskQueue: "fiscalflow", args: [input] };
    await expect(rig.client.workflow.execute("sale", start)).rejects.toMatchObject({
      cause: { type: "InvalidInput", message: expect.stringMatching(invalid) as string },
    });
    expect(await rig.starter.getSale({ invoice: "OWN-1" })).not.toHaveProperty("refund");
    expect(notesUnder("OWN-1")).toHaveLength(1);
    expect(await refund("OWN-1", "CN-OWN")).toMatchObject({ stage: "credited" });
    await result("OWN-1");
    await sold("OWN-2", { refundWindow: "0" });
    await expect(refund("OWN-2", "OWN-2")).rejects.toThrow(invalid);
    expect(rig.callsOf("OWN-1").filter((call) => call === "createCreditNote")).toEqual([]);
  });

  test("that is another sale's is refused, and the sale stays completed and can be refunded under another number", async () => {
    const before = onHand();
    await sold("SEQ-1");
    await sold("SEQ-2");
    expect(await refund("SEQ-1", "CN-SEQ")).toMatchObject({ stage: "credited" });
    await result("SEQ-1");
    const message = await conflictOf(refund("SEQ-2", "CN-SEQ"));
    expect(message).toMatch(/CN-SEQ belongs to the credit note of another sale: SEQ-1 .*Use another number/);
    expect(await rig.starter.getSale({ invoice: "SEQ-2" })).toMatchObject({ stage: "completed", attentions: [] });
    expect(notesUnder("CN-SEQ")).toHaveLength(1);
    expect(await refund("SEQ-2", "CN-SEQ-2")).toMatchObject({ stage: "credited" });
    const outcomes = [await result("SEQ-1"), await result("SEQ-2")];
    expect(outcomes.map(({ creditNote }) => creditNote?.traderInvoiceNumber)).toEqual(["CN-SEQ", "CN-SEQ-2"]);
    expect(onHand()).toBe(before);
  });

  test("that is another sale's is refused after both refund windows too", async () => {
    const before = onHand();
    await sold("LATE-1", { refundWindow: "0" });
    await sold("LATE-2", { refundWindow: "0" });
    expect(await refund("LATE-1", "CN-LATE")).toMatchObject({ stage: "credited" });
    expect(await conflictOf(refund("LATE-2", "CN-LATE"))).toMatch(/another sale: LATE-1 /);
    expect(await refund("LATE-2", "CN-LATE-2")).toMatchObject({ stage: "credited" });
    await expect.poll(() => onHand()).toBe(before);
    expect(notesUnder("CN-LATE")).toHaveLength(1);
  });

  test("that two sales request at once is sent for only one of them", async () => {
    const before = onHand();
    await sold("RACE-1");
    await sold("RACE-2");
    // Until the service has answered, the records tell nobody whose the number is.
    const slow = { operation: "creditNote", when: "before", kind: "slow", delayMs: 1_500, times: 1 } as const;
    rig.simulator.inject(slow);
    const [first, second] = await Promise.allSettled([refund("RACE-1", "CN-RACE"), refund("RACE-2", "CN-RACE")]);
    const stages = [first, second].map((one) => (one.status === "fulfilled" ? one.value.stage : one.reason));
    expect(stages).toEqual(expect.arrayContaining(["credited", expect.any(SaleConflictError)]));
    expect(notesUnder("CN-RACE")).toHaveLength(1);
    const loser = first.status === "rejected" ? "RACE-1" : "RACE-2";
    expect(await refund(loser, "CN-RACE-2")).toMatchObject({ stage: "credited" });
    for (const invoice of ["RACE-1", "RACE-2"]) expect(await result(invoice)).toMatchObject({ stage: "credited" });
    expect(onHand()).toBe(before);
  });

  test("stays its sale's when the same refund is requested again, or its workflow is restarted", async () => {
    const saleId = await sold("SAME-1");
    await Promise.all([refund("SAME-1", "CN-SAME"), refund("SAME-1", "CN-SAME")]);
    await result("SAME-1");
    expect(await refund("SAME-1", "CN-SAME")).toMatchObject({ stage: "credited" });
    const { creditNote } = await result("SAME-1");
    expect(creditNote).toMatchObject({ status: "completed", originalSaleId: saleId });
    await resetRun(rig.client, rig.namespace, handleOf("SAME-1").workflowId);
    expect(await result("SAME-1")).toMatchObject({ stage: "credited", creditNote: { id: creditNote?.id } });
    expect(notesUnder("CN-SAME")).toHaveLength(1);
  });

  const unheard = {
    "a signal": (invoice: string, number: string) => handleOf(invoice).signal("refundRequested", request(number)),
    "a caller who does not wait": (invoice: string, number: string) =>
      rig.starter.refund({ invoice }, request(number)).then(({ stage }) => expect(stage).toBe("crediting")),
  };
  test.each([
    ["a signal", "TOLD"],
    ["a caller who does not wait", "HASTY"],
  ] as const)("that another sale has needs an operator where the refund came from %s", async (who, name) => {
    const [first, second, number] = [`${name}-1`, `${name}-2`, `CN-${name}`];
    await sold(first);
    await sold(second);
    await refund(first, number);
    await unheard[who](second, number);
    const { attentions } = await parked(second, "unexpected-answer");
    expect(attentions[0]?.message).toContain(`${number} belongs to the credit note of another sale: ${first} `);
    expect(attentions[0]).toMatchObject({
      message: expect.stringMatching(/Acknowledge this, then refund the sale under another number\.$/) as string,
      resolvedBy: ["acknowledge"],
    });
    await rig.starter.acknowledge({ invoice: second }, { code: "unexpected-answer", note: "mistyped" });
    await rig.stateWhen(second, ({ stage }) => stage === "completed");
    await refund(second, `${number}-2`);
    for (const invoice of [first, second]) expect(await result(invoice)).toMatchObject({ stage: "credited" });
  });

  test("is not used where its refund is cancelled before the ledger has told what the sale is", async () => {
    const invoice = "AWAY-3";
    await sold(invoice, { refundWindow: "0" });
    line.cut();
    const refunding = refund(invoice, "CN-AWAY-3");
    await expect.poll(async () => (await handleOf(invoice).describe()).status.name).toBe("RUNNING");
    await rig.starter.cancel({ invoice }, { reason: "the buyer keeps the goods" });
    line.restore();
    expect(await refunding).toMatchObject({ stage: "completed" });
    expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect(notesUnder("CN-AWAY-3")).toEqual([]);
  });

  test("that two sales ask for while the ledger is away belongs to one of them once it is back", async () => {
    await sold("AWAY-1");
    await sold("AWAY-2");
    line.cut();
    const asked = { ...request("CN-AWAY"), restock: false };
    const both = ["AWAY-1", "AWAY-2"];
    for (const invoice of both) await handleOf(invoice).signal("refundRequested", asked);
    for (const invoice of both) await rig.stateWhen(invoice, ({ stage }) => stage === "crediting");
    expect(notesUnder("CN-AWAY")).toHaveLength(0);
    line.restore();
    const refused = async (): Promise<string[]> => {
      const states = await Promise.all(both.map((invoice) => rig.starter.getSale({ invoice })));
      return both.filter((_invoice, i) => states[i]?.attentions.some(({ code }) => code === "unexpected-answer"));
    };
    await expect.poll(refused).toHaveLength(1);
    // The number is the other one's from its claim on, and its request leaves after that.
    await expect.poll(() => notesUnder("CN-AWAY")).toHaveLength(1);
    const [invoice = ""] = await refused();
    await rig.starter.acknowledge({ invoice }, { code: "unexpected-answer", note: "mistyped" });
    await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
    await refund(invoice, "CN-AWAY-2");
    for (const one of both) expect(await result(one)).toMatchObject({ stage: "credited" });
  });
});
