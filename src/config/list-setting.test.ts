import { expect, test } from "vitest";

import { loadConfig } from "./index.ts";

const env = { COMPLIANCE_BASE_URL: "https://compliance.example.com", COMPLIANCE_API_KEY: "cmp_sk_test_1234567890" };

/** The businesses of a connection, by variables or, where a list is given, by the file. */
function businessesOf(variables: Record<string, string>, businesses?: unknown): readonly string[] | undefined {
  const configFileText = JSON.stringify({ compliance: { default: { businesses } } });
  return loadConfig({ env: { ...env, ...variables }, configFileText }).compliance[0]?.businesses;
}

test("businesses are read from the variable by commas, and from the file as a list", () => {
  expect(businessesOf({ COMPLIANCE_BUSINESSES: "biz_1, biz_2,biz_3" })).toEqual(["biz_1", "biz_2", "biz_3"]);
  expect(businessesOf({}, ["biz_1", "biz, with a comma"])).toEqual(["biz_1", "biz, with a comma"]);
  expect(businessesOf({ COMPLIANCE_BUSINESSES: "biz_1" }, ["biz_2"])).toEqual(["biz_1"]);
});

test("the default business is always one of them, the first, and once", () => {
  expect(businessesOf({})).toEqual([]);
  expect(businessesOf({ COMPLIANCE_BUSINESS_ID: "biz_1" })).toEqual(["biz_1"]);
  expect(businessesOf({ COMPLIANCE_BUSINESS_ID: "biz_2", COMPLIANCE_BUSINESSES: "biz_1,biz_2" })).toEqual([
    "biz_2",
    "biz_1",
  ]);
});

test.each([
  ["biz_1,", '2 of 2: expected a business id of 1 to 64 bytes, found ""'],
  ["biz_1,biz_2,biz_1", '3 of 3: expected different ones, found "biz_1" twice'],
  [`biz_1,${"x".repeat(65)}`, "2 of 2: expected a business id of 1 to 64 bytes, found"],
])("%s is refused, with what was expected", (text, message) => {
  expect(() => businessesOf({ COMPLIANCE_BUSINESSES: text })).toThrow(`COMPLIANCE_BUSINESSES: ${message}`);
});

test.each([
  ["biz_1", 'expected a list, each a business id of 1 to 64 bytes; found "biz_1"'],
  [[], "expected at least one: a business id of 1 to 64 bytes; found an empty list"],
  [[7, " biz_1"], "1 of 2: expected a business id of 1 to 64 bytes, found 7"],
])("%j in the file is refused", (found, message) => {
  expect(() => businessesOf({}, found)).toThrow(`compliance.default.businesses: ${message}`);
});
