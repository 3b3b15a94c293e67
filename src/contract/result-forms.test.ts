import { expect, test } from "vitest";

import { isResultOf } from "./result-forms.ts";

const REFUSAL = { kind: "refused", attention: "stock-refused", message: "stocktaking" };

test.each([
  ["adjustStock", { kind: "applied", movementId: "mov_1", sentAtMs: 1 }],
  ["adjustStock", { kind: "not-applied", refusal: REFUSAL }],
  ["adjustStock", { kind: "superseded", generation: 1 }],
  ["createSale", REFUSAL],
  ["createCreditNote", { kind: "named", saleId: "sal_1", message: "seen" }],
  ["processSyncBatch", { kind: "said-processed", word: { note: "seen", atMs: 1 } }],
])("a result of %s has the form of one of its kinds: %j", (activity, result) => {
  expect(isResultOf(activity, result)).toBe(true);
});

test.each([
  ["adjustStock", undefined],
  ["adjustStock", null],
  ["adjustStock", {}],
  ["adjustStock", "done"],
  ["adjustStock", [{ kind: "superseded", generation: 1 }]],
  ["adjustStock", { kind: "done" }],
  ["adjustStock", { kind: "toString" }],
  ["adjustStock", { kind: "applied" }],
  ["adjustStock", { kind: "not-applied", refusal: { ...REFUSAL, attention: "tea" } }],
  ["adjustStock", { kind: "superseded", generation: 0 }],
  ["createSale", { kind: "document", document: { id: "sal_1" } }],
  ["processSyncBatch", { kind: "applied", movementId: "mov_1", sentAtMs: 1 }],
])("what is not of the form of a result of %s is none: %j", (activity, result) => {
  expect(isResultOf(activity, result)).toBe(false);
});
