import { describe, expect, test } from "vitest";
import type { NewPurchase, Simulator } from "./index.ts";
import { at, call, simulatorUnderTest, type TestAnswer } from "./test-support/simulator-under-test.ts";

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

async function control(simulator: Simulator, method: string, path: string, body?: unknown): Promise<TestAnswer> {
  return await call(simulator, method, `/_simulator${path}`, { body, key: null, businessId: null });
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
  test("goes through the statuses of its script from when it is stored", async () => {
    const changes = [
      { afterMs: 5, status: "pending_review" as const },
      { afterMs: 10, status: "confirmed" as const, confirmationError: "Late" },
    ];
    const held = purchase("p4", "2025-01-04", { stored: false, changes });
    const simulator = await simulatorUnderTest({ scenario: { purchases: [held] } });
    expect(await idsOf(simulator)).toEqual([]);
    await call(simulator, "POST", "/v1/purchases/pull");
    await simulator.until(() => simulator.purchases()[0]?.status === "confirmed");
    const [seen] = (await page(simulator)).purchases;
    expect(seen).toMatchObject({ id: "p4", status: "confirmed", confirmationError: "Late" });
    expect(seen).not.toHaveProperty("changes");
  });

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

  test("is added, changed and removed over HTTP too", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    await control(simulator, "POST", "/purchases", purchase("p9", "2025-01-09"));
    await control(simulator, "PATCH", "/purchases/p9", { status: "rejected" });
    await control(simulator, "DELETE", "/purchases/p1");
    expect(await idsOf(simulator)).toEqual(["p9", "p3", "p2"]);
    expect(await idsOf(simulator, "status=rejected")).toEqual(["p9"]);
    const known = at((await control(simulator, "GET", "/purchases")).body, "purchases");
    expect(known).toHaveLength(3);
    expect((await control(simulator, "POST", "/purchases", purchase("p9", "2025-01-09"))).status).toBe(400);
  });
});

describe("businesses and branches", () => {
  test("that are opened later are listed", async () => {
    const simulator = await simulatorUnderTest();
    await control(simulator, "POST", "/businesses", {
      id: "biz_2",
      name: "Duka la Pili",
      branches: [{ id: "branch_21", authorityBhfId: "00" }],
    });
    await control(simulator, "POST", "/businesses/biz_2/branches", { id: "branch_22", authorityBhfId: "01" });
    const answer = await call(simulator, "GET", "/v1/businesses", { businessId: null });
    expect(at(answer.body, "data", "businesses", 1, "branches")).toHaveLength(2);
    expect((await control(simulator, "POST", "/businesses/biz_9/branches", { id: "b" })).status).toBe(400);
  });
});
