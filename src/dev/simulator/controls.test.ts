import { describe, expect, test } from "vitest";
import { at, call, saleId, simulatorUnderTest, teaSale, type TestAnswer } from "./test-support/simulator-under-test.ts";
import type { Simulator } from "./index.ts";

async function control(simulator: Simulator, name: string, ...args: unknown[]): Promise<TestAnswer> {
  return await call(simulator, "POST", `/_simulator/${name}`, { body: args, key: null, businessId: null });
}

describe("the controls over HTTP", () => {
  test("need no key, are not counted and take nothing from a window", async () => {
    const simulator = await simulatorUnderTest({ limitPerWindow: 1 });
    await control(simulator, "documents");
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(200);
    const books = await call(simulator, "GET", "/_simulator/books", { key: null, businessId: null });
    expect(at(books.body, "calls")).toEqual({ byOperation: { listItems: 1 } });
    expect(at(books.body, "callLog")).toHaveLength(1);
  });

  test("script the authority and wait for its decision", async () => {
    const simulator = await simulatorUnderTest();
    await control(simulator, "setDefaultAuthority", { do: "down" });
    const sale = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") });
    const settled = control(simulator, "settled", saleId(sale));
    const steps = [{ do: "reject", reason: "Closed", afterMs: 5 }];
    expect((await control(simulator, "setAuthority", "INV-1", steps)).status).toBe(200);
    expect(at((await settled).body, "error")).toBe("Closed");
  });

  test("change items, keys, limits and documents", async () => {
    const simulator = await simulatorUnderTest();
    const item = { id: "item_x", businessId: "biz_1", name: "X", unitPrice: 1, onHand: { branch_1: 3 } };
    await control(simulator, "addItem", item);
    await control(simulator, "updateItem", "item_x", { onHand: { branch_2: 4 } });
    expect(simulator.books().stockOnHand["item_x"]).toEqual({ branch_1: 3, branch_2: 4 });
    expect(simulator.items("biz_1")).toContainEqual(expect.objectContaining({ id: "item_x", registrationAttempts: 0 }));
    const lines = [{ itemId: "item_x", quantity: 2 }];
    const sale = { id: "sale_x", businessId: "biz_1", traderInvoiceNumber: "INV-9", lines, status: "pending" };
    expect(at((await control(simulator, "issueSale", sale)).body, "totals", "total")).toBe(2);
    await control(simulator, "setDocumentStatus", "sale_x", "failed", { error: "By hand" });
    const read = await call(simulator, "GET", "/v1/sales/sale_x");
    expect(at(read.body, "data", "sale")).toMatchObject({ status: "failed", error: "By hand" });
    await control(simulator, "setApplication", "simulator", { limitPerWindow: 1 });
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(429);
    await control(simulator, "setKey", "cmp_sk_test_simulator", null);
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(401);
  });

  test("put faults in and take them away", async () => {
    const simulator = await simulatorUnderTest();
    await control(simulator, "inject", { operation: "listItems", when: "before", kind: "status" });
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(503);
    await control(simulator, "clearFaults");
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(200);
  });

  test("of the accounting service are among them", async () => {
    const simulator = await simulatorUnderTest();
    await control(simulator, "accounting/addBillPayment", { id: "x" }, { status: "failed" });
    await control(simulator, "accounting/changeBillPayment", "x", { note: "n" });
    expect(simulator.accounting.billPayments()).toMatchObject([{ body: { id: "x", note: "n" }, status: "failed" }]);
    expect((await control(simulator, "accounting/addBillPayment", {})).status).toBe(400);
  });

  test("show the calls of one sale", async () => {
    const simulator = await simulatorUnderTest();
    const sale = saleId(
      await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1"), idempotencyKey: "key-of-INV-1" }),
    );
    await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-2") });
    await call(simulator, "GET", `/v1/sales/${sale}`);
    expect(simulator.calls({ invoice: "INV-1" })).toMatchObject([
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
    await control(simulator, "resetCalls");
    expect(simulator.books()).toMatchObject({ calls: { byOperation: {} }, callLog: [] });
  });

  test("say what is wrong with an instruction", async () => {
    const simulator = await simulatorUnderTest();
    const wrong = await control(simulator, "inject", { operation: "*", when: "before", kind: "explode" });
    expect([wrong.status, at(wrong.body, "error", "message")]).toEqual([400, expect.stringContaining("fault.kind: ")]);
    const unknown = await control(simulator, "nothing");
    expect([unknown.status, at(unknown.body, "error", "message")]).toEqual([
      400,
      expect.stringContaining('there is no control "nothing"'),
    ]);
    expect(simulator.calls()).toEqual([]);
  });
});

test("a simulator ends at once although clients keep their connections and a slow answer is due", async () => {
  const simulator = await simulatorUnderTest({ latencyMs: 60_000 });
  const outcome = call(simulator, "GET", "/v1/items").then(
    () => "answered",
    () => "cut",
  );
  await simulator.until(() => simulator.calls().length === 1);
  await simulator.close();
  expect(await outcome).toBe("cut");
});
