import { expect, test } from "vitest";

import { candidatesFor, settingMeantBy, wordsOf } from "./candidates.ts";
import { settingsOf } from "./settings.ts";
import { dialectSchema } from "../compliance/dialect.ts";

const LINES = "createSale.fields.lines";
const QUANTITY = "createSale.lineFields.quantity";

test("the words of an error are the last names of the paths in its message and its extras", () => {
  expect(wordsOf("items[0].item_id is required")).toEqual(["item_id", "is", "required"]);
  expect(wordsOf("lines.0.qty: Required", [{ path: "unitPrice" }])).toEqual(["qty", "Required", "path", "unitPrice"]);
});

test("a word of an error suggests the setting that commonly has the name, else one whose name contains it", () => {
  expect(settingMeantBy("line_items", [QUANTITY, LINES])).toBe(LINES);
  expect(settingMeantBy("saleQuantity", [LINES, QUANTITY])).toBe(QUANTITY);
});

test("a plain English word suggests no setting", () => {
  expect(settingMeantBy("streamlines", [LINES])).toBeUndefined();
  expect(settingMeantBy("required", [LINES, QUANTITY])).toBeUndefined();
});

test("the configured name is the first candidate, and the default is among them", () => {
  expect(candidatesFor("purchases.pageSize", "count").slice(0, 2)).toEqual(["count", "pageSize"]);
  const searched = settingsOf(dialectSchema).filter(({ path }) => candidatesFor(path, undefined).length > 0);
  expect(searched.length).toBeGreaterThan(15);
  for (const { path, fallback } of searched) expect(candidatesFor(path, undefined)).toContain(fallback);
});
