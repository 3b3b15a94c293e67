import { describe, expect, test } from "vitest";
import { at, call, saleId, simulatorUnderTest, teaSale, type TestAnswer } from "./test-support/simulator-under-test.ts";
import type { Simulator } from "./index.ts";

async function control(simulator: Simulator, method: string, path: string, body?: unknown): Promise<TestAnswer> {
  return await call(simulator, method, `/_simulator${path}`, { body, key: null, businessId: null });
}

describe("the controls over HTTP", () => {
  test("need no key, are not counted and take nothing from a window", async () => {
    const simulator = await simulatorUnderTest({ limitPerWindow: 1 });
    await control(simulator, "GET", "/books");
    await control(simulator, "GET", "/documents");
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(200);
    const books = await control(simulator, "GET", "/books?callLog=0");
    expect(at(books.body, "calls")).toEqual({ byOperation: { listItems: 1 }, byInvoice: {}, total: 1, rateLimited: 0 });
    expect(at(books.body, "callLog")).toBeUndefined();
  });

  test("script the authority and wait for its decision", async () => {
    const simulator = await simulatorUnderTest();
    await control(simulator, "POST", "/authority", { default: { do: "down" } });
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") });
    const settled = control(simulator, "GET", `/documents/${saleId(sale)}/settled`);
    const steps = [{ do: "reject", reason: "Closed", afterMs: 5 }];
    expect((await control(simulator, "POST", "/authority", { invoice: "INV-1", steps })).status).toBe(200);
    expect(at((await settled).body, "error")).toBe("Closed");
  });

  test("change items, keys, limits and documents", async () => {
    const simulator = await simulatorUnderTest();
    await control(simulator, "POST", "/items", {
      id: "item_x",
      businessId: "biz_1",
      name: "X",
      unitPrice: 1,
      onHand: { branch_1: 3 },
    });
    await control(simulator, "PATCH", "/items/item_x", { onHand: { branch_2: 4 } });
    expect(simulator.books().stockOnHand["item_x"]).toEqual({ branch_1: 3, branch_2: 4 });
    const { body } = await control(simulator, "GET", "/businesses/biz_1/items");
    expect(at(body, "items")).toContainEqual(expect.objectContaining({ id: "item_x", registrationAttempts: 0 }));
    const issued = await control(simulator, "POST", "/sales", {
      id: "sale_elsewhere",
      businessId: "biz_1",
      traderInvoiceNumber: "INV-9",
      lines: [{ itemId: "item_x", quantity: 2 }],
      status: "pending",
    });
    expect(at(issued.body, "totals", "total")).toBe(2);
    await control(simulator, "POST", "/documents/sale_elsewhere/status", { status: "failed", error: "By hand" });
    const read = await call(simulator, "GET", "/v1/sales/sale_elsewhere");
    expect(at(read.body, "data", "sale")).toMatchObject({ status: "failed", error: "By hand" });
    await control(simulator, "PATCH", "/applications/simulator", { limitPerWindow: 1 });
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(429);
    await control(simulator, "DELETE", "/keys/cmp_sk_test_simulator");
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(401);
  });

  test("put faults in and take them away", async () => {
    const simulator = await simulatorUnderTest();
    const fault = { operation: "listItems", when: "before", kind: "status" };
    const id = at((await control(simulator, "POST", "/faults", fault)).body, "id");
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(503);
    await control(simulator, "DELETE", `/faults/${String(id)}`);
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(200);
  });

  test("show the calls of one sale", async () => {
    const simulator = await simulatorUnderTest();
    const sale = saleId(
      await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1"), idempotencyKey: "key-of-INV-1" }),
    );
    await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-2") });
    await call(simulator, "GET", `/v1/sales/${sale}`);
    const answer = await control(simulator, "GET", "/calls?invoice=INV-1");
    expect(at(answer.body, "calls")).toMatchObject([
      {
        operation: "createSale",
        status: 201,
        saleId: sale,
        idempotencyKey: "key-of-INV-1",
        application: "simulator",
        businessId: "biz_1",
      },
      { operation: "readSale", status: 200, saleId: sale },
    ]);
    expect(simulator.books().calls.byInvoice).toEqual({ "INV-1": 2, "INV-2": 1 });
    await control(simulator, "POST", "/calls/reset");
    expect(simulator.books()).toMatchObject({ calls: { total: 0, byInvoice: {} }, callLog: [] });
  });

  test("say what is wrong with an instruction", async () => {
    const simulator = await simulatorUnderTest();
    const wrong = await control(simulator, "POST", "/faults", { operation: "*", when: "before", kind: "explode" });
    expect(wrong.status).toBe(400);
    expect(String(at(wrong.body, "error", "message"))).toContain(".kind: ");
    const unknown = await control(simulator, "POST", "/faults", {
      operation: "createCreditNote",
      when: "before",
      kind: "drop",
    });
    expect(unknown.status).toBe(400);
    expect(String(at(unknown.body, "error", "message"))).toContain('Did you mean "creditNote"?');
    expect((await control(simulator, "GET", "/nothing")).status).toBe(404);
    expect(simulator.books().calls.total).toBe(0);
  });
});

test("a simulator ends at once although clients keep their connections and a slow answer is due", async () => {
  const simulator = await simulatorUnderTest({ latencyMs: 60_000 });
  const outcome = call(simulator, "GET", "/v1/items").then(
    () => "answered",
    () => "cut",
  );
  await simulator.until(() => simulator.books().calls.total === 1);
  await simulator.close();
  expect(await outcome).toBe("cut");
});
