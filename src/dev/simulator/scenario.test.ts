import { describe, expect, test } from "vitest";
import { InstructionError, parseScenario, startSimulator } from "./index.ts";
import { parseDialect } from "./dialect.ts";
import { call, at, simulatorUnderTest } from "./test-support/simulator-under-test.ts";

function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof InstructionError) return error.problems;
    throw error;
  }
  return [];
}

describe("a scenario", () => {
  test("names every wrong value with its path, all at once", () => {
    const scenario = {
      applications: [{ name: "shop", keys: [{ key: "secret", scopes: ["sales:all"] }] }],
      items: [{ id: "item_1", businessId: "biz_1", name: "One", unitPrice: -1, colour: "red" }],
      authority: { documents: { "INV-1": [{ do: "approve" }], "INV-2": [] } },
    };
    const problems = problemsOf(() => parseScenario(scenario));
    expect(problems.map((problem) => problem.split(": ")[0])).toEqual([
      "scenario.applications[0].keys[0].key",
      "scenario.applications[0].keys[0].scopes[0]",
      "scenario.items[0].unitPrice",
      "scenario.items[0]",
      "scenario.authority.documents.INV-1[0].do",
      "scenario.authority.documents.INV-2",
    ]);
  });

  const item = { id: "item_1", businessId: "biz_1", name: "One", unitPrice: 1 };
  const purchase = {
    id: "p1",
    businessId: "biz_9",
    supplier: { name: "Mill", pin: "P000000000A" },
    supplierInvoiceNumber: "S-1",
    invoiceDate: "2025-01-01",
    totals: { subtotal: 100, vat: 16, total: 116 },
  };
  const sale = { businessId: "biz_1", traderInvoiceNumber: "INV-1", lines: [{ itemId: "item_2", quantity: 1 }] };
  test.each([
    [{ items: [{ ...item, businessId: "biz_9" }] }, 'scenario.items[0]: there is no business "biz_9"'],
    [
      { applications: [{ name: "shop", keys: [{ key: "cmp_sk_test_a", businessId: "biz_9" }] }] },
      'scenario.applications[0].keys: there is no business "biz_9"',
    ],
    [{ items: [item, item] }, 'scenario.items[1].id: "item_1" exists'],
    [{ items: [{ ...item, taxTypeCode: "Z" }] }, 'scenario.items[0].taxTypeCode: there is no tax rate for "Z"'],
    [
      { items: [{ ...item, onHand: { branch_9: 1 } }] },
      'scenario.items[0].onHand: business "biz_1" has no branch "branch_9"',
    ],
    [{ purchases: [purchase] }, 'scenario.purchases[0].businessId: there is no business "biz_9"'],
    [{ sales: [sale] }, 'scenario.sales[0].lines[0].itemId: business "biz_1" has no item "item_2"'],
  ])("is refused with a reference that leads nowhere, or an id that occurs twice: %#", async (scenario, problem) => {
    await expect(startSimulator({ scenario })).rejects.toThrow(problem);
  });

  test("that cannot be used starts no simulator", async () => {
    await expect(startSimulator({ scenario: [] })).rejects.toThrow(/cannot use this scenario: scenario: /);
    await expect(startSimulator({ limitPerWindow: 0 })).rejects.toThrow(/options\.limitPerWindow/);
  });

  test("brings sales that were issued elsewhere, and tax rates", async () => {
    const scenario = {
      taxRates: { A: 0, B: 16, C: 0, D: 0, E: 8, F: 7.5 },
      items: [{ id: "item_1", businessId: "biz_1", name: "One", unitPrice: 10.2, taxTypeCode: "F" }],
      sales: [
        { id: "sale_1", businessId: "biz_1", traderInvoiceNumber: "INV-1", lines: [{ itemId: "item_1", quantity: 3 }] },
      ],
    };
    const simulator = await simulatorUnderTest({ scenario });
    const answer = await call(simulator, "GET", "/v1/sales/sale_1");
    expect(at(answer.body, "data", "sale")).toMatchObject({
      status: "completed",
      totals: { total: 30.6, taxableAmount: 28.47, taxAmount: 2.13 },
      lines: [{ taxRate: 7.5, unitPrice: 10.2 }],
      receipt: { receiptLabel: "NS" },
    });
    expect(simulator.documents("INV-1")).toMatchObject([{ application: null, submissions: 0 }]);
  });
});

describe("a dialect", () => {
  test("names an unknown word and a wrong value with their paths", () => {
    const problems = problemsOf(() =>
      parseDialect({ createSale: { businessIdIn: "header" }, stock: { place: "branch" } }),
    );
    expect(problems.map((problem) => problem.split(": ")[0])).toEqual([
      "dialect.createSale.businessIdIn",
      "dialect.stock",
    ]);
  });

  test("switches on the operations that the document only names", async () => {
    const dialect = {
      createItem: { method: "POST", path: "/v1/items", fields: { name: "title" } },
      receiptDownload: { method: "GET", path: "/v1/sales/{id}/receipt" },
      identity: { method: "GET", path: "/v1/me" },
      lookups: { method: "GET", path: "/v1/codes" },
    };
    const simulator = await simulatorUnderTest({ dialect });
    const item = await call(simulator, "POST", "/v1/items", { body: { title: "Pen", unitPrice: 20 } });
    expect(item.status).toBe(201);
    expect(at(item.body, "data", "item")).toMatchObject({ name: "Pen", registrationStatus: "PENDING" });
    const { id } = simulator.issueSale({
      businessId: "biz_1",
      traderInvoiceNumber: "INV-1",
      lines: [{ itemId: "item_tea", quantity: 1 }],
    });
    const file = await call(simulator, "GET", `/v1/sales/${id}/receipt`);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    expect(at((await call(simulator, "GET", "/v1/me")).body, "data", "environment")).toBe("sandbox");
    expect((await call(simulator, "GET", "/v1/codes")).status).toBe(200);
    const plain = await simulatorUnderTest();
    expect((await call(plain, "POST", "/v1/items", { body: { name: "Pen" } })).status).toBe(404);
  });
});
