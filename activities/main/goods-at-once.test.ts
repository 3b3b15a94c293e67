import { describe, expect, test } from "vitest";

import type { PreparedSale, SaleInput } from "../../src/contract/index.ts";
import { inActivity, serve } from "../test-support/served.ts";
import { createComposeActivities, createGoodsAtOnce } from "./compose.ts";

const tea = { sku: "TEA-500", quantity: 2, unitPrice: 350 };

/** Unless told otherwise, the catalogue has just been read. */
async function atOnce(
  changes: Partial<SaleInput> = {},
  more: Partial<PreparedSale> = {},
  { isRead = true, ageMs = 0 } = {},
) {
  const { context, activities, runtime, simulator, clock } = await serve();
  const read = { connection: "default", businessId: "biz_1", lines: [tea] };
  if (isRead) await inActivity(() => activities.readItems(read));
  clock.nowMs += ageMs;
  const callsBefore = simulator.calls().length;
  const { composeSale } = createComposeActivities(context, () => undefined);
  const goodsAtOnce = createGoodsAtOnce(context, composeSale);
  const { lines = [tea], ...sale } = { traderInvoiceNumber: "INV-1", saleDate: "2026-11-21", ...changes };
  const prepared = { profile: runtime.profile, sale, fingerprint: "f", refundWindowMs: 0, ...more };
  const goods = await inActivity(() => goodsAtOnce(prepared, lines));
  expect(simulator.calls()).toHaveLength(callsBefore);
  return goods;
}

describe("what is known of a sale's goods without a call", () => {
  test("is the items of its lines and its create request, where the catalogue has them", async () => {
    const { items, composed } = await atOnce();
    expect(items).toMatchObject([{ id: "item_tea", registrationStatus: "REGISTERED" }]);
    expect(composed).toMatchObject({ kind: "composed", callbackExpected: false });
    expect(JSON.parse(composed?.request.bodyJson ?? "")).toEqual({
      traderInvoiceNumber: "INV-1",
      saleDate: "2026-11-21",
      lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }],
    });
  });

  test.each([
    ["an item is not registered", { lines: [tea, { ...tea, sku: "SOAP-1" }] }],
    ["a branch has to be looked up", { branch: "00" }],
    ["the sale was issued elsewhere", { saleId: "sal_1" }],
    ["it would be too much for one payload", { lines: Array.from({ length: 201 }, () => tea) }],
    ["the request is refused", { lines: [{ ...tea, quantity: Number.POSITIVE_INFINITY }] }],
  ])("is the items alone where %s", async (_why, changes) => {
    const { items, ...rest } = await atOnce(changes);
    expect(items?.length).toBeGreaterThan(0);
    expect(rest).toEqual({});
  });

  test("is nothing where the process has read no catalogue", async () => {
    expect(await atOnce({}, {}, { isRead: false })).toEqual({});
  });

  test("is nothing where the catalogue lacks an item", async () => {
    expect(await atOnce({ lines: [{ ...tea, sku: "RICE-1" }] })).toEqual({});
  });

  test("is nothing where the catalogue is too old", async () => {
    const { runtime } = await serve();
    expect(await atOnce({}, {}, { ageMs: runtime.catalogueAgeMs })).toHaveProperty("items");
    expect(await atOnce({}, {}, { ageMs: runtime.catalogueAgeMs + 1 })).toEqual({});
  });

  test("is nothing for a sale that ended long ago", async () => {
    const finished = { stage: "completed", document: null, creditNote: null, movements: [] } as const;
    expect(await atOnce({}, { finished: { ...finished, movements: [] } })).toEqual({});
  });
});
