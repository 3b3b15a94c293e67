import { afterEach, describe, expect, test } from "vitest";

import { type Simulator, startSimulator } from "../dev/simulator/index.ts";
import { createDispatchers, createTransport, type OwnedDispatchers } from "../http/transport.ts";
import { classifyError, classifyMovement } from "./classify.ts";
import { createComplianceClient } from "./client.ts";
import { composeCreateSale, composeCreditNote } from "./compose.ts";
import { parseDialect } from "./dialect.ts";
import { errorOf } from "./test-support/test-client.ts";

/** The simulator is written from the document alone: where the two readings differ, one of them is wrong. */
let simulator: Simulator | undefined;
let dispatchers: OwnedDispatchers | undefined;
afterEach(async () => {
  await simulator?.close();
  await dispatchers?.close();
  simulator = undefined;
  dispatchers = undefined;
});

const otherNames = {
  createSale: {
    path: "/v1/sales/issue",
    businessIdIn: "body",
    branchBy: "authorityId",
    fields: { traderInvoiceNumber: "invoiceNo", lines: "items", branch: "bhf" },
    lineFields: { itemId: "item", unitPrice: "price" },
  },
  creditNote: { businessIdIn: "body" },
  stock: { branch: "store", branchBy: "authorityId", report: "tax" },
  register: { branch: "office", force: "again" },
  purchases: { cursor: "after", pageSize: "limit" },
  businesses: { list: "entities", id: "key", branches: "places", branchId: "ref", authorityId: "bhf" },
};

const branch = { id: "branch_1", authorityBhfId: "00" };
const business = { businessId: "biz_1" };

describe.each([
  ["default names", {}],
  ["other names", otherNames],
])("with %s", (_names, overrides) => {
  async function start() {
    simulator = await startSimulator({ dialect: overrides });
    dispatchers = createDispatchers();
    const dialect = parseDialect(overrides);
    const client = createComplianceClient({
      baseUrl: simulator.url,
      apiKey: { reveal: () => "cmp_sk_test_simulator" },
      keyReach: "organisation",
      dialect,
      transport: createTransport(dispatchers),
    });
    return { client, dialect };
  }

  test("a sale goes from its items to its credit note", async () => {
    const { client, dialect } = await start();
    const businesses = await client.listBusinesses();
    expect(businesses.data).toMatchObject([{ id: "biz_1", branches: [branch, { id: "branch_2" }] }]);
    const { data: items } = await client.listItems(business);
    const item = items.find(({ id }) => id === "item_tea");
    expect(item).toMatchObject({ sku: "TEA-500", stockTracked: true });
    expect((await client.registerItem({ itemId: "item_tea", branch, force: true }, business)).data).toMatchObject({
      registrationStatus: "REGISTERED",
    });

    const composed = composeCreateSale(dialect, "organisation", {
      ...business,
      traderInvoiceNumber: "INV-1001",
      saleDate: "2026-11-21",
      customer: { name: "Wanjiru" },
      lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }],
      branch,
    });
    const keyed = { idempotencyKey: "sale:INV-1001:simulated" };
    const sale = await client.createSale(composed, keyed);
    expect(sale.meta).toMatchObject({ replayed: false, rateLimit: { limit: 120 } });
    const again = await client.createSale(composed, keyed);
    expect(again).toMatchObject({ data: { id: sale.data.id }, meta: { status: 200, replayed: true } });
    expect(await client.getSale(sale.data.id, business)).toMatchObject({ data: { id: sale.data.id } });

    const movement = {
      itemId: "item_tea",
      action: "DEDUCT",
      quantity: 2,
      unitPrice: 350,
      referenceId: "INV-1001:1",
    } as const;
    const moved = await client.adjustStock({ ...movement, branch }, business);
    expect(moved.data).toMatchObject({ branchId: "branch_1", report: { stockIo: "ok", stockMaster: "ok" } });
    expect(classifyMovement(moved, dialect)).toMatchObject({ kind: "ok" });

    const credit = { ...business, returnDate: "2026-11-22", saleId: sale.data.id, reason: "06" } as const;
    const note = composeCreditNote(dialect, "organisation", { ...credit, traderInvoiceNumber: "CN-1" });
    const credited = await client.createCreditNote(note, { idempotencyKey: "credit:CN-1:simulated" });
    expect(credited.data).toMatchObject({ type: "credit_note", originalSaleId: sale.data.id });
    const second = composeCreditNote(dialect, "organisation", { ...credit, traderInvoiceNumber: "CN-2" });
    const refused = await errorOf(client.createCreditNote(second, { idempotencyKey: "credit:CN-2:simulated" }));
    expect(classifyError("createCreditNote", refused, dialect)).toMatchObject({ kind: "already-credited" });
  });

  test("supplier invoices are pulled and listed page by page", async () => {
    const { client } = await start();
    await client.pullPurchases(business);
    const ids: string[] = [];
    let cursor: string | null | undefined;
    do {
      const { data }: { data: { purchases: { id: string }[]; nextCursor: string | null } } = await client.listPurchases(
        { pageSize: 1, cursor: cursor ?? undefined },
        business,
      );
      ids.push(...data.purchases.map(({ id }) => id));
      cursor = data.nextCursor;
    } while (cursor !== null);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("a wrong key, a wrong id and a spent window each raise their own error", async () => {
    const { client, dialect } = await start();
    const missing = await errorOf(client.getSale("sal_none", business));
    expect(classifyError("getSale", missing, dialect)).toEqual({ kind: "refused", attention: "not-found" });
    const foreign = await errorOf(client.listItems({ businessId: "biz_none" }));
    expect(["refused", "configuration"]).toContain(classifyError("listItems", foreign, dialect).kind);
  });
});
