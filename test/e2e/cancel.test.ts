import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
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

describeWithTemporal("while the API limits the rate, under keys that it remembers,", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, timings: { callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig?.close());
  const { start, sold, creditNotesOf } = salesOf(() => rig);

  test("what was sent, and whose answer does not come, is not cancelled", async () => {
    rig.simulator.inject({
      operation: "createSale",
      when: "after",
      kind: "drop",
      match: { invoice: "SENT-1" },
      times: 1,
    });
    const handle = await start("SENT-1");
    await rig.simulator.until(() => rig.callsOf("SENT-1").includes("createSale"));
    await rig.starter.cancel({ invoice: "SENT-1" }, { reason: "the customer left" });
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("SENT-1")).toHaveLength(1);
  });

  test("what was not sent is cancelled in place of the next attempt: a credit note, and a sale", async () => {
    const { sale } = await sold("LIMITED-2");
    const limited = { when: "before", kind: "rate-limit", retryAfterSeconds: 4, times: 1 } as const;
    rig.simulator.inject({ operation: "creditNote", ...limited });
    const request = { reason: "06", traderInvoiceNumber: "CN-LIMITED-2" } as const;
    await rig.starter.refund({ invoice: "LIMITED-2" }, request, { waitSeconds: 0 });
    await rig.simulator.until(() => rig.callsOf("CN-LIMITED-2").includes("creditNote"));
    await rig.starter.cancel({ invoice: "LIMITED-2" }, { reason: "the customer keeps it" });
    // Held back: the API is asked for nothing until then.
    const handle = await start("LIMITED-3");
    await rig.stateWhen("LIMITED-3", ({ stage }) => stage === "submitting");
    await rig.starter.cancel({ invoice: "LIMITED-3" }, { reason: "the customer left" });
    expect(await handle.result()).toMatchObject({ stage: "cancelled", sale: null });
    await rig.stateWhen("LIMITED-2", ({ stage, refund }) => stage === "completed" && !refund);
    expect(rig.callsOf("LIMITED-3")).toEqual([]);
    expect(creditNotesOf(sale?.id)).toEqual([]);
  });
});
