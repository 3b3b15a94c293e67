import { expect, test } from "vitest";

import { loadConfig } from "./index.ts";

const env = {
  COMPLIANCE_BASE_URL: "https://compliance.example.com",
  COMPLIANCE_API_KEY: "cmp_sk_test_1234567890",
  COMPLIANCE_BUSINESSES: "*",
};

test("weights of businesses are read from the variable", () => {
  const config = loadConfig({ env: { ...env, COMPLIANCE_BUSINESS_WEIGHTS: '{"biz_1": 2, "biz_2": 0.5}' } });
  expect(config.compliance[0]?.businessWeights).toEqual({ biz_1: 2, biz_2: 0.5 });
});

test.each(['{"biz_1": 0}', '{"biz_1": 1001}', '{"biz_1": "2"}'])("%s is refused, with the business", (text) => {
  expect(() => loadConfig({ env: { ...env, COMPLIANCE_BUSINESS_WEIGHTS: text } })).toThrow(
    /COMPLIANCE_BUSINESS_WEIGHTS.*biz_1: expected a weight from 0.001 to 1000, found/s,
  );
});

test.each(["[1]", "2", "{"])("%s is refused, with what was expected", (text) => {
  expect(() => loadConfig({ env: { ...env, COMPLIANCE_BUSINESS_WEIGHTS: text } })).toThrow(
    /COMPLIANCE_BUSINESS_WEIGHTS.*expected an object of businesses and their weights from 0.001 to 1000/s,
  );
});
