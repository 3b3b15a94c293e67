import { expect, test } from "vitest";

import { load } from "./test-support/load.ts";

const env = { COMPLIANCE_BASE_URL: "https://compliance.example.com", COMPLIANCE_API_KEY: "cmp_sk_test_1234567890" };

/** The businesses of a connection, by variables or, where a list is given, by the file. */
function businessesOf(variables: Record<string, string>, businesses?: unknown): readonly string[] | undefined {
  return load({ ...env, ...variables }, { compliance: { default: { businesses } } }).compliance[0]?.businesses;
}

test("businesses are read from the variable by commas, and from the file as a list", () => {
  expect(businessesOf({ COMPLIANCE_BUSINESSES: "biz_1, biz_2,biz_3" })).toEqual(["biz_1", "biz_2", "biz_3"]);
  expect(businessesOf({}, ["biz_1", "biz, with a comma"])).toEqual(["biz_1", "biz, with a comma"]);
  expect(businessesOf({ COMPLIANCE_BUSINESSES: "biz_1" }, ["biz_2"])).toEqual(["biz_1"]);
});

test("the default business is always one of them, the first, and once", () => {
  expect(businessesOf({ COMPLIANCE_BUSINESS_ID: "biz_1" })).toEqual(["biz_1"]);
  expect(businessesOf({ COMPLIANCE_BUSINESS_ID: "biz_2", COMPLIANCE_BUSINESSES: "biz_1,biz_2" })).toEqual([
    "biz_2",
    "biz_1",
  ]);
});

test("those that are named are served and no other one, unless a * among them says any", () => {
  const servedBy = (variables: Record<string, string>) =>
    load({ ...env, ...variables }).compliance.map(({ businesses, servedBusinesses }) => ({
      businesses,
      servedBusinesses,
    }));
  const alone = { businesses: ["biz_1"], servedBusinesses: ["biz_1"] };
  expect(servedBy({ COMPLIANCE_BUSINESS_ID: "biz_1" })).toEqual([alone]);
  expect(servedBy({ COMPLIANCE_BUSINESS_ID: "biz_1", COMPLIANCE_KEY_REACH: "business" })).toEqual([alone]);
  expect(servedBy({ COMPLIANCE_BUSINESSES: "biz_1" })).toEqual([alone]);
  expect(servedBy({ COMPLIANCE_BUSINESSES: "*" })).toEqual([{ businesses: [], servedBusinesses: "any" }]);
  const beside = { COMPLIANCE_BUSINESS_ID: "biz_1", COMPLIANCE_BUSINESSES: "*,biz_2" };
  expect(servedBy(beside)).toEqual([{ businesses: ["biz_1", "biz_2"], servedBusinesses: "any" }]);
});

test("a connection without any business is refused, as is a * that stands for one", () => {
  expect(() => businessesOf({})).toThrow(
    /: is missing, and so is the default business .+: expected the businesses that are served, or "\*"/,
  );
  expect(() => businessesOf({ COMPLIANCE_BUSINESS_ID: "*" })).toThrow(/COMPLIANCE_BUSINESS_ID: expected a business id/);
  const bound = { COMPLIANCE_KEY_REACH: "business", COMPLIANCE_BUSINESS_ID: "biz_1", COMPLIANCE_BUSINESSES: "*" };
  expect(() => businessesOf(bound)).toThrow(/COMPLIANCE_BUSINESSES: expected no business besides "biz_1".+found "\*"/);
});

test.each([
  ["biz_1,", 'entry 2: expected a business id of 1 to 64 bytes, or "*", found ""'],
  [`biz_1,${"x".repeat(65)}`, 'entry 2: expected a business id of 1 to 64 bytes, or "*", found'],
])("%s is refused, with what was expected", (text, message) => {
  expect(() => businessesOf({ COMPLIANCE_BUSINESSES: text })).toThrow(`COMPLIANCE_BUSINESSES: ${message}`);
});

test.each([
  ["biz_1", 'expected a list, each a business id of 1 to 64 bytes, or "*", found "biz_1"'],
  [[], 'expected at least one: a business id of 1 to 64 bytes, or "*"; found an empty list'],
  [[7, " biz_1"], 'entry 1: expected a business id of 1 to 64 bytes, or "*", found 7'],
])("%j in the file is refused", (found, message) => {
  expect(() => businessesOf({}, found)).toThrow(`compliance.default.businesses: ${message}`);
});
