import { describe, expect, test } from "vitest";
import { at, call, codeOf, saleId, simulatorUnderTest, teaSale } from "./test-support/simulator-under-test.ts";

describe("a sale", () => {
  test("is accepted at once with 201, its amounts and a receipt of eleven fields", async () => {
    const simulator = await simulatorUnderTest({ nowMs: () => Date.UTC(2025, 2, 1, 21, 30, 5) });
    const answer = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") });
    expect(answer.status).toBe(201);
    expect(at(answer.body, "data", "sale")).toMatchObject({
      type: "sale",
      status: "completed",
      traderInvoiceNumber: "INV-1",
      customer: { name: "Achieng", pin: "A000000000B", phone: null, email: null },
      totals: { total: 700, taxableAmount: 603.45, taxAmount: 96.55 },
      originalSaleId: null,
      error: null,
      callback: null,
    });
    const receipt = at(answer.body, "data", "sale", "receipt");
    expect(receipt).toMatchObject({
      receiptLabel: "NS",
      scuDate: "02/03/2025",
      scuTime: "00:30:05",
      originalCuInvoiceNo: null,
    });
    expect(Object.keys(Object(receipt)).toSorted()).toEqual([
      "cuInvoiceNo",
      "internalData",
      "originalCuInvoiceNo",
      "receiptLabel",
      "receiptNumber",
      "scuDate",
      "scuId",
      "scuTime",
      "signature",
      "totalReceiptCounter",
      "verificationUrl",
    ]);
  });

  test("adds up to the cent where binary fractions would drift", async () => {
    const simulator = await simulatorUnderTest();
    const lines = [
      { itemId: "item_tea", quantity: 1, unitPrice: 1.005 },
      { itemId: "item_flour", quantity: 3, unitPrice: 0.1 },
      { itemId: "item_gas", quantity: 0.7, unitPrice: 33.35 },
    ];
    const answer = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { lines }) });
    const totals = [0, 1, 2].map((index) => at(answer.body, "data", "sale", "lines", index, "total"));
    expect(totals).toEqual([1.01, 0.3, 23.35]);
    expect(at(answer.body, "data", "sale", "totals")).toEqual({ total: 24.66, taxableAmount: 22.79, taxAmount: 1.87 });
  });

  test("waits with 202 in the scripted status and completes later", async () => {
    const simulator = await simulatorUnderTest();
    simulator.setAuthority("INV-1", [{ do: "accept", afterMs: 20, status: "ready_to_submit" }]);
    const answer = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") });
    expect(answer.status).toBe(202);
    expect(at(answer.body, "data", "sale")).toMatchObject({ status: "ready_to_submit", receipt: null });
    expect(await simulator.settled(saleId(answer))).toMatchObject({ status: "completed", submissions: 1 });
  });

  test("rejected by the authority stays as failed inside the 422 and passes on the retry", async () => {
    const simulator = await simulatorUnderTest();
    simulator.setAuthority("INV-1", [
      { do: "reject", reason: "Wrong PIN" },
      { do: "reject", reason: "Still" },
      { do: "accept" },
    ]);
    const answer = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") });
    expect(answer.status).toBe(422);
    expect(at(answer.body, "error")).toMatchObject({
      code: "authority_rejected",
      sale: { status: "failed", error: "Wrong PIN" },
    });
    const path = `/v1/sales/${saleId(answer)}/retry`;
    expect(at((await call(simulator, "POST", path)).body, "error", "sale", "error")).toBe("Still");
    const passed = await call(simulator, "POST", path);
    expect(passed.status).toBe(200);
    expect(at(passed.body, "data", "sale")).toMatchObject({ status: "completed", error: null });
    expect(simulator.documents("INV-1")).toMatchObject([{ submissions: 3 }]);
    const once = await call(simulator, "POST", path);
    expect([once.status, codeOf(once)]).toEqual([422, "not_retryable"]);
  });

  test("stays in flight while the authority is down and is decided again by a new script", async () => {
    const simulator = await simulatorUnderTest();
    simulator.setDefaultAuthority({ do: "down" });
    const id = saleId(await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") }));
    expect(simulator.documents("INV-1")).toMatchObject([{ status: "pending" }]);
    simulator.setAuthority("INV-1", [{ do: "accept" }]);
    expect(await simulator.settled(id)).toMatchObject({ status: "completed", submissions: 1 });
  });

  test("in flight may be resubmitted, which asks the authority again", async () => {
    const simulator = await simulatorUnderTest();
    simulator.setAuthority("INV-1", [{ do: "down" }, { do: "down", status: "retrying" }, { do: "accept" }]);
    const path = `/v1/sales/${saleId(await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") }))}/retry`;
    const again = await call(simulator, "POST", path);
    expect([again.status, at(again.body, "data", "sale", "status")]).toEqual([200, "retrying"]);
    expect(at((await call(simulator, "POST", path)).body, "data", "sale", "status")).toBe("completed");
    expect(simulator.documents("INV-1")).toMatchObject([{ submissions: 3 }]);
  });

  test("of an unknown item is 404", async () => {
    const simulator = await simulatorUnderTest();
    const lines = [{ itemId: "item_none", quantity: 1, unitPrice: 1 }];
    const answer = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { lines }) });
    expect([answer.status, codeOf(answer)]).toEqual([404, "not_found"]);
  });

  test("rejected without a document leaves none, and the script goes on with the next creation", async () => {
    const simulator = await simulatorUnderTest();
    simulator.setAuthority("INV-1", [{ do: "reject", reason: "No", withoutDocument: true }, { do: "accept" }]);
    const options = { body: teaSale("INV-1"), idempotencyKey: "first-key" };
    const rejected = await call(simulator, "POST", "/v1/sales", options);
    expect(rejected.status).toBe(422);
    expect(at(rejected.body, "error", "sale")).toBeUndefined();
    const replayed = await call(simulator, "POST", "/v1/sales", options);
    expect([replayed.status, replayed.headers.get("idempotent-replayed")]).toEqual([422, "true"]);
    expect(simulator.documents()).toEqual([]);
    const accepted = await call(simulator, "POST", "/v1/sales", { ...options, idempotencyKey: "second-key" });
    expect(accepted.status).toBe(201);
  });

  test("of an unregistered item is rejected until the item is registered", async () => {
    const simulator = await simulatorUnderTest();
    const lines = [{ itemId: "item_new", quantity: 1, unitPrice: 120 }];
    const rejected = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1", { lines }) });
    expect([rejected.status, codeOf(rejected)]).toEqual([422, "authority_rejected"]);
    expect((await call(simulator, "POST", "/v1/items/item_new/register")).status).toBe(200);
    expect((await call(simulator, "POST", `/v1/sales/${saleId(rejected)}/retry`)).status).toBe(200);
  });

  test.each([
    ["traderInvoiceNumber", teaSale("x".repeat(51))],
    ["saleDate", teaSale("INV-1", { saleDate: "2025-02-30" })],
    ["lines[0].quantity", teaSale("INV-1", { lines: [{ itemId: "item_tea", quantity: 0, unitPrice: 1 }] })],
    ["lines[0].unitPrice", teaSale("INV-1", { lines: [{ itemId: "item_tea", quantity: 1, unitPrice: "1" }] })],
    ["lines", teaSale("INV-1", { lines: [] })],
    ["branchId", teaSale("INV-1", { branchId: "elsewhere" })],
    ["callbackUrl", teaSale("INV-1", { callbackUrl: "http://callbacks.example.com/x" })],
    ["callbackUrl", teaSale("INV-1", { callbackUrl: "https://user:secret@callbacks.example.com/x" })],
    ["callbackUrl", teaSale("INV-1", { callbackUrl: "https://10.0.0.7/x" })],
    ["callbackUrl", teaSale("INV-1", { callbackUrl: `https://callbacks.example.com/${"x".repeat(2048)}` })],
    ["amount", teaSale("INV-1", { amount: 3 })],
    ["The body", '{"traderInvoiceNumber":'],
  ])("with a wrong %s is refused with 400 and files nothing", async (field, body) => {
    const simulator = await simulatorUnderTest();
    const answer = await call(simulator, "POST", "/v1/sales", { body });
    expect([answer.status, codeOf(answer)]).toEqual([400, "invalid_request"]);
    expect(String(at(answer.body, "error", "message")).startsWith(`${field} `)).toBe(true);
    expect(simulator.documents()).toEqual([]);
  });

  test("is read under renamed fields only, once they are renamed", async () => {
    const dialect = {
      createSale: {
        path: "/v1/invoices",
        businessIdIn: "body",
        fields: { traderInvoiceNumber: "number", lines: "rows", customer: "buyer", branch: "outlet" },
        lineFields: { itemId: "item", quantity: "qty", unitPrice: "price" },
        branchBy: "authorityBhfId",
      },
      errors: { authorityRejected: "kra_rejected" },
    };
    const simulator = await simulatorUnderTest({ dialect });
    const body = {
      businessId: "biz_1",
      number: "INV-1",
      outlet: "01",
      rows: [{ item: "item_tea", qty: 1, price: 350 }],
    };
    const answer = await call(simulator, "POST", "/v1/invoices", { body, businessId: null });
    expect(answer.status).toBe(201);
    expect(simulator.documents("INV-1")).toMatchObject([{ branchId: "branch_2" }]);
    expect((await call(simulator, "POST", "/v1/invoices", { body: teaSale("INV-2"), businessId: null })).status).toBe(
      400,
    );
    simulator.setAuthority("INV-3", [{ do: "reject", reason: "No" }]);
    const rejected = await call(simulator, "POST", "/v1/invoices", {
      body: { ...body, number: "INV-3" },
      businessId: null,
    });
    expect(codeOf(rejected)).toBe("kra_rejected");
  });
});
