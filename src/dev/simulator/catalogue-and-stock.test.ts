import { describe, expect, test } from "vitest";
import { at, call, codeOf, simulatorUnderTest, type TestAnswer } from "./test-support/simulator-under-test.ts";

describe("an item", () => {
  test("is listed with what it still lacks", async () => {
    const simulator = await simulatorUnderTest();
    const answer = await call(simulator, "GET", "/v1/items");
    const items = at(answer.body, "data", "items");
    expect(items).toHaveLength(6);
    expect(items).toContainEqual({
      id: "item_incomplete",
      externalId: "ext-incomplete",
      name: "Sundries, not yet classified",
      sku: "MISC-1",
      taxCategory: "standard",
      taxTypeCode: "B",
      productTypeCode: "2",
      classificationCode: "50000000",
      unitCode: "U",
      packagingUnitCode: "NT",
      unitPrice: 75,
      stockTracked: true,
      registrationStatus: "PENDING",
      needs: { productType: false, classificationMapping: true },
    });
  });

  test("that lacks something is not registered, and the 422 carries it", async () => {
    const simulator = await simulatorUnderTest();
    const refused = await call(simulator, "POST", "/v1/items/item_incomplete/register");
    expect(refused.status).toBe(422);
    expect(at(refused.body, "error", "item")).toMatchObject({
      registrationStatus: "PENDING",
      needs: { classificationMapping: true },
    });
    simulator.updateItem("item_incomplete", { needs: {} });
    const registered = await call(simulator, "POST", "/v1/items/item_incomplete/register", { body: {} });
    expect(registered.status).toBe(200);
    expect(at(registered.body, "data", "item", "registrationStatus")).toBe("REGISTERED");
  });

  test("is registered as its script says, one step for each attempt", async () => {
    const simulator = await simulatorUnderTest();
    simulator.updateItem("item_new", { registration: [{ reject: "Unknown code" }, "accept"] });
    const first = await call(simulator, "POST", "/v1/items/item_new/register", { body: { branchId: "01" } });
    expect([first.status, codeOf(first), at(first.body, "error", "message")]).toEqual([
      422,
      "authority_rejected",
      "Unknown code",
    ]);
    expect((await call(simulator, "POST", "/v1/items/item_new/register")).status).toBe(200);
  });

  test("already registered goes to the authority again only by force", async () => {
    const simulator = await simulatorUnderTest();
    simulator.updateItem("item_tea", { registration: { reject: "Asked again" } });
    expect((await call(simulator, "POST", "/v1/items/item_tea/register")).status).toBe(200);
    expect((await call(simulator, "POST", "/v1/items/item_tea/register", { body: { force: true } })).status).toBe(422);
  });

  test("keeps what a patch does not name", async () => {
    const simulator = await simulatorUnderTest();
    simulator.updateItem("item_new", { unitPrice: 130 });
    const items = at((await call(simulator, "GET", "/v1/items")).body, "data", "items");
    expect(items).toContainEqual(
      expect.objectContaining({ id: "item_new", unitPrice: 130, registrationStatus: "PENDING", sku: "SOAP-1" }),
    );
  });
});

describe("a stock adjustment", () => {
  const adjustment = { itemId: "item_tea", action: "DEDUCT", quantity: 2, unitPrice: 350, referenceId: "INV-1/1" };

  test("moves the stock on each request, with the same reference or another", async () => {
    const simulator = await simulatorUnderTest();
    const first = await call(simulator, "POST", "/v1/stock/adjustments", {
      body: adjustment,
      idempotencyKey: "same-key-1",
    });
    const second = await call(simulator, "POST", "/v1/stock/adjustments", {
      body: adjustment,
      idempotencyKey: "same-key-1",
    });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(at(first.body, "data")).toMatchObject({
      itemId: "item_tea",
      branchId: "branch_1",
      quantityOnHand: 98,
      fiscal: { stockIo: { status: "ok" }, stockMaster: { status: "ok" } },
    });
    expect(at(second.body, "data", "quantityOnHand")).toBe(96);
    const { movements, stockOnHand } = simulator.books();
    expect(movements).toMatchObject([
      { referenceId: "INV-1/1", action: "DEDUCT", quantity: 2, unitPrice: 350, onHandBefore: 100, onHandAfter: 98 },
      { referenceId: "INV-1/1", onHandBefore: 98, onHandAfter: 96 },
    ]);
    expect(new Set(movements.map(({ movementId }) => movementId)).size).toBe(2);
    expect(stockOnHand["item_tea"]).toEqual({ branch_1: 96, branch_2: 40 });
  });

  test("moves the branch it names and reports what the item is scripted to report", async () => {
    const simulator = await simulatorUnderTest({
      dialect: { stock: { branch: "bhf", branchBy: "authorityBhfId", report: "etims" } },
    });
    simulator.updateItem("item_tea", { fiscalReport: { stockMaster: "error" } });
    const body = { ...adjustment, action: "ADD", quantity: 0.1, bhf: "01" };
    const answer = await call(simulator, "POST", "/v1/stock/adjustments", { body });
    expect(at(answer.body, "data")).toMatchObject({
      branchId: "branch_2",
      quantityOnHand: 40.1,
      etims: { stockIo: { status: "ok" }, stockMaster: { status: "error" } },
    });
  });

  test.each([
    ["quantity", { quantity: -1 }],
    ["unitPrice", { unitPrice: -0.01 }],
    ["action", { action: "REMOVE" }],
    ["referenceId", { referenceId: "x".repeat(101) }],
    ["branchId", { branchId: "branch_none" }],
    ["itemId", { itemId: undefined }],
  ])("with a wrong %s is refused and moves nothing", async (field, wrong) => {
    const simulator = await simulatorUnderTest();
    const answer = await call(simulator, "POST", "/v1/stock/adjustments", { body: { ...adjustment, ...wrong } });
    expect(answer.status).toBe(400);
    expect(String(at(answer.body, "error", "message")).startsWith(`${field} `)).toBe(true);
    expect(simulator.books().movements).toEqual([]);
  });
});

describe("the purchases list", () => {
  const purchase = (id: string, invoiceDate: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
    id,
    businessId: "biz_1",
    supplier: { name: "Mill", pin: "P000000000A" },
    supplierInvoiceNumber: `S-${id}`,
    invoiceDate,
    totals: { subtotal: 100, vat: 16, total: 116 },
    ...more,
  });
  const scenario = {
    purchases: [
      purchase("p1", "2025-01-01"),
      purchase("p2", "2025-01-03", { status: "confirmed" }),
      purchase("p3", "2025-01-02"),
      purchase("p4", "2025-01-04", { stored: false }),
    ],
  };
  const ids = (answer: TestAnswer): unknown[] => {
    const list = at(answer.body, "data", "purchases");
    return Array.isArray(list) ? list.map((entry) => at(entry, "id")) : [];
  };

  test("comes newest first in pages that never overlap", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    const first = await call(simulator, "GET", "/v1/purchases?pageSize=2");
    expect(ids(first)).toEqual(["p2", "p3"]);
    const cursor = at(first.body, "pagination", "nextCursor");
    const second = await call(simulator, "GET", `/v1/purchases?pageSize=2&cursor=${String(cursor)}`);
    expect(ids(second)).toEqual(["p1"]);
    expect(at(second.body, "pagination")).toEqual({ nextCursor: null, pageSize: 2 });
  });

  test("holds what was pulled from the authority, and filters", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    await call(simulator, "POST", "/v1/purchases/pull");
    expect(ids(await call(simulator, "GET", "/v1/purchases"))).toEqual(["p4", "p2", "p3", "p1"]);
    expect(ids(await call(simulator, "GET", "/v1/purchases?status=confirmed"))).toEqual(["p2"]);
    expect(ids(await call(simulator, "GET", "/v1/purchases?from=2025-01-02&to=2025-01-03"))).toEqual(["p2", "p3"]);
  });

  test.each([
    "pageSize=0",
    "pageSize=101",
    "pageSize=ten",
    "cursor=nonsense",
    "status=lost",
    "from=2025-13-01",
    "page=2",
  ])("refuses %s", async (query) => {
    const simulator = await simulatorUnderTest({ scenario });
    expect((await call(simulator, "GET", `/v1/purchases?${query}`)).status).toBe(400);
  });
});
