import { expect, test } from "vitest";

import { sampleSale } from "../compliance/test-support/samples.ts";
import { RESULT_FORMS } from "./result-forms.ts";

const NO_ANSWERS = [null, {}, "done", { kind: "done" }, [null], 7];

/** The workflow goes into nothing of these, or into nothing that must be there. */
const TOLERANT = ["findSale", "unseenPurchases"];
const STRICT = Object.entries(RESULT_FORMS).filter(([name]) => !TOLERANT.includes(name));

test.each(STRICT)("what is no answer has not the form of a result of %s", (_name, isOfForm) => {
  expect(NO_ANSWERS.filter(isOfForm)).toEqual([]);
});

test("a document, a refusal, and a refusal with another code", () => {
  const document = sampleSale({ status: "archived", receipt: null });
  const refused = { kind: "refused", message: "no" };
  expect(RESULT_FORMS.readDocument({ kind: "document", document, more: 1 })).toBe(true);
  expect(RESULT_FORMS.readDocument({ kind: "document", document: { ...document, lines: null } })).toBe(false);
  expect(RESULT_FORMS.readDocument({ ...refused, attention: "credentials" })).toBe(true);
  expect(RESULT_FORMS.readDocument({ ...refused, attention: "no such code" })).toBe(false);
});

test("an activity that returns nothing was completed by a worker only where it has no result", () => {
  expect([undefined, null, "done"].map(RESULT_FORMS.settleMovement)).toEqual([true, false, false]);
});

const REFUSAL = { kind: "refused", attention: "stock-refused", message: "stocktaking" };

test.each([
  ["adjustStock", { kind: "applied", movementId: "mov_1", sentAtMs: 1 }],
  ["adjustStock", { kind: "not-applied", refusal: REFUSAL }],
  ["adjustStock", { kind: "superseded", generation: 1 }],
  ["createSale", REFUSAL],
  ["createCreditNote", { kind: "named", saleId: "sal_1", message: "seen" }],
  ["processSyncBatch", { kind: "decided-processed", decision: { note: "seen", atMs: 1 } }],
] as const)("a result of %s has the form of one of its kinds: %j", (activity, result) => {
  expect(RESULT_FORMS[activity](result)).toBe(true);
});

test.each([
  ["adjustStock", undefined],
  ["adjustStock", [{ kind: "superseded", generation: 1 }]],
  ["adjustStock", { kind: "toString" }],
  ["adjustStock", { kind: "applied" }],
  ["adjustStock", { kind: "not-applied", refusal: { ...REFUSAL, attention: "tea" } }],
  ["adjustStock", { kind: "superseded", generation: 0 }],
  ["createSale", { kind: "document", document: { id: "sal_1" } }],
  ["processSyncBatch", { kind: "applied", movementId: "mov_1", sentAtMs: 1 }],
] as const)("what is not of the form of a result of %s is none: %j", (activity, result) => {
  expect(RESULT_FORMS[activity](result)).toBe(false);
});
