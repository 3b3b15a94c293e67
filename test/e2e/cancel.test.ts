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
