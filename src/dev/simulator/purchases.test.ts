import { describe, expect, test } from "vitest";
import type { NewPurchase, Simulator } from "./index.ts";
import { at, call, simulatorUnderTest } from "./test-support/simulator-under-test.ts";

function purchase(id: string, invoiceDate: string, more: Partial<NewPurchase> = {}): NewPurchase {
  return {
    id,
    businessId: "biz_1",
    supplier: { name: "Mill", pin: "P000000000A" },
    supplierInvoiceNumber: `S-${id}`,
    invoiceDate,
    totals: { subtotal: 100, vat: 16, total: 116 },
    ...more,
  };
}

/** The purchases of one page, and the cursor of the next. */
async function page(simulator: Simulator, query = ""): Promise<{ purchases: unknown[]; cursor: unknown }> {
  const answer = await call(simulator, "GET", `/v1/purchases?${query}`);
  const purchases = at(answer.body, "data", "purchases");
  return { purchases: Array.isArray(purchases) ? purchases : [], cursor: at(answer.body, "pagination", "nextCursor") };
}

async function idsOf(simulator: Simulator, query = ""): Promise<unknown[]> {
  return (await page(simulator, query)).purchases.map((one) => at(one, "id"));
}

const scenario = {
  purchases: [purchase("p1", "2025-01-01"), purchase("p2", "2025-01-02"), purchase("p3", "2025-01-03")],
};

describe("a purchase", () => {
  test("moves in the list with its date, and a reader behind it does not see it again", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    const { cursor } = await page(simulator, "pageSize=1");
    simulator.updatePurchase("p1", { invoiceDate: "2025-02-01" });
    expect(await idsOf(simulator, `pageSize=5&cursor=${String(cursor)}`)).toEqual(["p2"]);
    expect(await idsOf(simulator)).toEqual(["p1", "p3", "p2"]);
  });

  test("that is removed leaves the cursor that names it good", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    const { cursor } = await page(simulator, "pageSize=2");
    simulator.removePurchase("p2");
    expect(await idsOf(simulator, `cursor=${String(cursor)}`)).toEqual(["p1"]);
  });

  test("is added and changed, once", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    simulator.addPurchase(purchase("p9", "2025-01-09"));
    simulator.updatePurchase("p9", { status: "rejected" });
    simulator.removePurchase("p1");
    expect(await idsOf(simulator)).toEqual(["p9", "p3", "p2"]);
    expect(await idsOf(simulator, "status=rejected")).toEqual(["p9"]);
    expect(simulator.purchases()).toHaveLength(3);
    expect(() => simulator.addPurchase(purchase("p9", "2025-01-09"))).toThrow('purchase.id: "p9" exists');
  });
});

describe("businesses and branches", () => {
  test("that are opened later are listed", async () => {
    const simulator = await simulatorUnderTest();
    const branches = [{ id: "branch_21", authorityBhfId: "00" }];
    simulator.addBusiness({ id: "biz_2", name: "Duka la Pili", branches });
    simulator.addBranch("biz_2", { id: "branch_22", authorityBhfId: "01" });
    const answer = await call(simulator, "GET", "/v1/businesses", { businessId: null });
    expect(at(answer.body, "data", "businesses", 1, "branches")).toHaveLength(2);
    expect(() => simulator.addBranch("biz_9", { id: "b", authorityBhfId: "02" })).toThrow('no business "biz_9"');
  });
});
