import { expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type { Item, SaleDocument } from "../contract/documents.ts";
import { itemSchema, saleSchema } from "./answers.ts";
import { sampleItem, sampleSale } from "./test-support/samples.ts";

test("the types of the schemas are the types that workflows hold", () => {
  expectTypeOf<z.infer<typeof saleSchema>>().toExtend<SaleDocument>();
  expectTypeOf<z.infer<typeof itemSchema>>().toExtend<Item>();
});

test("fields that the document does not show are kept, at every depth", () => {
  const sale = { ...sampleSale(), extra: 1, totals: { ...sampleSale().totals, discount: 3 } };
  expect(saleSchema.parse(sale)).toEqual(sale);
});

test("a status outside the six and a missing receipt are for the classification, not for the schema", () => {
  expect(saleSchema.safeParse(sampleSale({ status: "on_holiday", receipt: null })).success).toBe(true);
});

test("an unexpected value under one item's needs does not fail the whole list", () => {
  const parsed = itemSchema.parse({ ...sampleItem(), needs: { productType: "yes", classificationMapping: true } });
  expect(parsed.needs).toEqual({ productType: undefined, classificationMapping: true });
});

test.each(["id", "status", "lines", "totals"])("a sale without %s is refused by the schema", (name) => {
  const { [name as "id"]: _left, ...rest } = sampleSale();
  expect(saleSchema.safeParse(rest).success).toBe(false);
});

test("a callback is read without its URL, and without the path of one that its error quotes", () => {
  const callback = {
    url: "https://shop.example.com/callbacks/secret-token",
    status: "failed",
    attempts: 2,
    lastError: "POST https://shop.example.com/callbacks/secret-token: 503",
    region: "ke",
  };
  expect(saleSchema.parse(sampleSale({ callback })).callback).toEqual({
    status: "failed",
    attempts: 2,
    lastError: "POST https://shop.example.com/… 503",
    region: "ke",
  });
});
