import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

describeWithTemporal("a sale that needs an operator before it has a document", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      timings: { resubmissions: 1, resubmissionWindowMs: 50, callTimeoutMs: 1_000 },
      env: { COMPLIANCE_BUSINESSES: "*" },
    });
  });
  afterAll(() => rig?.close());

  const { start, parked, result } = salesOf(() => rig);

  test("for an unknown item goes on by itself once the item appears", async () => {
    await start("ITEM-UNKNOWN-1", { lines: [{ sku: "UGALI-1", quantity: 1, unitPrice: 90 }] });
    const state = await parked("ITEM-UNKNOWN-1", "item-unknown");
    expect(state.attentions[0]?.message).toBe('lines[0]: no item has sku "UGALI-1"');
    rig.simulator.addItem({ id: "item_ugali", businessId: "biz_1", sku: "UGALI-1", name: "Ugali", unitPrice: 90 });
    expect(await result("ITEM-UNKNOWN-1")).toMatchObject({
      stage: "completed",
      sale: { lines: [{ itemId: "item_ugali" }] },
    });
  });

  test("because an item lacks data goes on by itself once the item shows as registered", async () => {
    await start("NEEDS-1", { lines: [{ itemId: "item_incomplete", quantity: 1, unitPrice: 75 }] });
    const state = await parked("NEEDS-1", "item-needs-data");
    expect(state).toMatchObject({
      stage: "registering",
      attentions: [{ subject: "item_incomplete", evidence: { needs: ["classificationMapping"] } }],
    });
    rig.simulator.updateItem("item_incomplete", {
      needs: { classificationMapping: false },
      registrationStatus: "REGISTERED",
    });
    expect(await result("NEEDS-1")).toMatchObject({ stage: "completed" });
  });

  test("because an item lacks data, while the catalogue is refused too, shows both and asks once for each", async () => {
    const needs = { classificationMapping: true };
    rig.simulator.addItem({
      id: "item_bare",
      businessId: "biz_1",
      name: "Bare",
      unitPrice: 1,
      registrationStatus: "PENDING",
      needs,
    });
    const handle = await start("NEEDS-2", { lines: [{ itemId: "item_bare", quantity: 1, unitPrice: 1 }] });
    await parked("NEEDS-2", "item-needs-data");
    const serveAgain = rig.simulator.inject({ operation: "listItems", when: "before", kind: "status", status: 400 });
    const { attentions } = await parked("NEEDS-2", "invalid-request");
    expect(attentions.map(({ code }) => code)).toEqual(["item-needs-data", "invalid-request"]);
    const asked = ((await handle.fetchHistory()).events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === "registerItem",
    );
    expect(asked).toHaveLength(1);
    serveAgain();
    rig.simulator.updateItem("item_bare", {
      needs: { classificationMapping: false },
      registrationStatus: "REGISTERED",
    });
    await rig.starter.retry({ invoice: "NEEDS-2" });
    expect(await result("NEEDS-2")).toMatchObject({ stage: "completed" });
  });

  test("because a registration was refused goes on after a retry", async () => {
    rig.simulator.addItem({
      id: "item_refused",
      businessId: "biz_1",
      name: "Refused",
      unitPrice: 1,
      registrationStatus: "PENDING",
      registration: { reject: "class" },
    });
    await start("ITEM-REJECTED-1", { lines: [{ itemId: "item_refused", quantity: 1, unitPrice: 1 }] });
    await parked("ITEM-REJECTED-1", "item-rejected");
    rig.simulator.updateItem("item_refused", { registration: ["accept"] });
    await rig.starter.retry({ invoice: "ITEM-REJECTED-1" }, { by: "njeri" });
    expect(await result("ITEM-REJECTED-1")).toMatchObject({ stage: "completed" });
    const { decisions } = await rig.starter.getSale({ invoice: "ITEM-REJECTED-1" });
    const retried = { update: "retry", code: "item-rejected", note: "", by: "njeri" };
    expect(decisions).toEqual([{ ...retried, atMs: expect.any(Number) as number }]);
    await expect
      .poll(async () => (await rig.ledger.documents.findSale(BUSINESS, "ITEM-REJECTED-1"))?.decisions)
      .toEqual(decisions);
  });

  test("because its business is mistyped names the business, and what to do", async () => {
    const mistyped = { invoice: "TYPO-1", businessId: "biz_typo" };
    const sale = { traderInvoiceNumber: "TYPO-1", lines: [TEA], refundWindow: "0" };
    const { outcome } = await rig.starter.startSaleAndWait({ ...sale, businessId: "biz_typo" });
    const named =
      'Business not found. If the business "biz_typo" is mistyped, cancel this, and start it again with the right one.';
    expect(outcome.attention).toMatchObject({ code: "not-found", message: expect.stringContaining(named) });
    const state = await rig.starter.getSale(mistyped);
    expect(state).toMatchObject({ attentions: [{ message: expect.stringContaining(named) }] });
    await rig.starter.cancel(mistyped, { reason: "mistyped" });
    expect(await rig.starter.outcome(mistyped, { waitSeconds: 20 })).toMatchObject({ stage: "cancelled" });
    expect(await rig.starter.startSaleAndWait(sale)).toMatchObject({ outcome: { stage: "completed" } });
    expect(rig.simulator.documents("TYPO-1")).toHaveLength(1);
  });

  test("because its key is refused, and then its request, shows what is refused now, and goes on after each retry", async () => {
    rig.simulator.setKey("cmp_sk_test_simulator", {
      scopes: ["sales:read", "catalog:read", "catalog:write", "stock:write"],
    });
    await start("KEY-1");
    const state = await parked("KEY-1", "credentials");
    expect(state.attentions[0]?.message).toContain("sales:write");
    expect(JSON.stringify(state)).not.toContain("cmp_sk_test_simulator");
    rig.simulator.setKey("cmp_sk_test_simulator", {
      scopes: ["sales:read", "sales:write", "catalog:read", "catalog:write", "stock:write", "purchases:read"],
    });
    rig.simulator.inject({
      operation: "createSale",
      when: "before",
      kind: "status",
      status: 400,
      body: { error: { code: "invalid_request", message: "paymentTypeCode" } },
      match: { invoice: "KEY-1" },
      times: 1,
    });
    await rig.starter.retry({ invoice: "KEY-1" });
    // What is refused now, alone: the key works.
    const { attentions } = await parked("KEY-1", "invalid-request");
    expect(attentions.map(({ code }) => code)).toEqual(["invalid-request"]);
    await rig.starter.retry({ invoice: "KEY-1" });
    expect(await result("KEY-1")).toMatchObject({ stage: "completed" });
  });
});
