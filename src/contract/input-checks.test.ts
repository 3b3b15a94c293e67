import { expect, test } from "vitest";

import { doubtsOf, EXPECTED_PIN, type InputChecks, refundDoubtsOf, withoutValues } from "./input-checks.ts";
import type { SaleFields } from "./schema/sale.ts";

/** 21:30 UTC: the next day in Nairobi, the 22nd. */
const LATE_MS = Date.parse("2026-11-21T21:30:00Z");
const CHECKS: InputChecks = "warn";

const fieldsOf = (changes: Partial<SaleFields>, checks: InputChecks = "warn"): (string | undefined)[] =>
  doubtsOf({ traderInvoiceNumber: "INV-1", ...changes }, checks, LATE_MS).map((doubt) => doubt.split(":")[0]);

test.each(["P012345678Z", "A000000001B"])("the PIN %s looks right", (pin) => {
  expect(fieldsOf({ customer: { pin } })).toEqual([]);
});

test.each(["P01234567Z", "p012345678Z", "P012345678z", "B012345678Z", " P012345678Z", "P012345678Z\n"])(
  "the PIN %j looks wrong",
  (pin) => {
    expect(fieldsOf({ customer: { pin } })).toEqual(["customer.pin"]);
  },
);

test.each([
  ["\u0410012345678Z", "character 1 is U+0410"],
  ["A01234567\uFF18Z", "character 10 is U+FF18"],
  ["A012345678Z\u200B", "character 12 is U+200B"],
  ["\u0410\u041E12345678\u0417 ", "character 1 is U+0410, character 2 is U+041E, character 11 is U+0417"],
])("a doubt about the PIN %j, which looks right, names the characters that are not", (pin, named) => {
  const [doubt = ""] = doubtsOf({ traderInvoiceNumber: "INV-1", customer: { pin } }, CHECKS, LATE_MS);
  expect(doubt).toMatch(/^customer\.pin: expected A or P, nine digits and a letter/);
  expect(doubt).toContain(`(${named})`);
  expect(withoutValues([doubt]).join("")).toBe(`customer.pin: expected ${EXPECTED_PIN}`);
});

test.each([
  ["2026-10-23", []],
  ["2026-10-22", ["saleDate"]],
  ["2026-11-23", []],
  ["2026-11-24", ["saleDate"]],
])("the date %s, of a sale that starts on 2026-11-22, is doubted in %j", (saleDate, fields) => {
  expect(fieldsOf({ saleDate })).toEqual(fields);
});

test("nothing is doubted where checks are off, or where the sale was issued elsewhere", () => {
  const wrong = { saleDate: "2020-01-01", customer: { pin: "1" } };
  expect(fieldsOf(wrong)).toEqual(["customer.pin", "saleDate"]);
  expect(fieldsOf(wrong, "off")).toEqual([]);
  expect(fieldsOf({ ...wrong, saleId: "sal_1" })).toEqual([]);
});

test.each([
  ["2026-10-23", []],
  ["2026-10-22", ["a day from 2026-10-23 to 2026-11-23"]],
  ["2026-11-23", []],
  ["2027-06-30", ["a day from 2026-10-23 to 2026-11-23"]],
])("the date %s, of a refund that is asked for on 2026-11-22, is expected to be %j", (returnDate, expected) => {
  expect(refundDoubtsOf({ returnDate }, CHECKS, LATE_MS)).toEqual(
    expected.map((what) => `returnDate: expected ${what}, found "${returnDate}"`),
  );
});

test("a refund that is dated before its sale is doubted, unless it is dated today", () => {
  const of = (returnDate: string | undefined, saleDate: string) =>
    refundDoubtsOf({ returnDate }, CHECKS, LATE_MS, saleDate);
  expect(of("2026-11-20", "2026-11-21")).toEqual([
    'returnDate: expected no day before the sale\'s date, 2026-11-21, found "2026-11-20"',
  ]);
  expect(of("2026-11-21", "2026-11-21")).toEqual([]);
  expect(of("2026-11-22", "2027-11-21")).toEqual([]);
  expect(of(undefined, "2027-11-21")).toEqual([]);
});

test("no refund is doubted where checks are off", () => {
  expect(refundDoubtsOf({ returnDate: "2020-01-01" }, "off", LATE_MS, "2026-11-21")).toEqual([]);
});
