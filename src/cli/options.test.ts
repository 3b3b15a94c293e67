import { describe, expect, test } from "vitest";

import { loadConfig } from "../config/index.ts";
import { businessOf, servedBusinessOf } from "./options.ts";

const CONNECTION = { COMPLIANCE_BASE_URL: "https://compliance.example.com", COMPLIANCE_API_KEY: "cmp_sk_test_nobody" };

function configured(env: Record<string, string>) {
  return loadConfig({ env: { ...CONNECTION, ...env } });
}

describe("the business that a command is for", () => {
  test("is the default one where none is named, and the named one also where it is not configured", () => {
    const config = configured({ COMPLIANCE_BUSINESS_ID: "biz_1", COMPLIANCE_BUSINESSES: "biz_2" });
    expect(businessOf(config, {})).toEqual({ connection: "default", businessId: "biz_1" });
    expect(businessOf(config, { business: "biz_2" })).toEqual({ connection: "default", businessId: "biz_2" });
    expect(businessOf(config, { business: "biz_9" })).toEqual({ connection: "default", businessId: "biz_9" });
  });

  test("must be named where there is no default, even if only one is configured; the error lists them", () => {
    for (const businesses of ["biz_1", "biz_1,biz_2"]) {
      const config = configured({ COMPLIANCE_BUSINESSES: businesses });
      expect(() => businessOf(config, {})).toThrow(
        `has no default business: give --business ID (configured: ${businesses.replace(",", ", ")}).`,
      );
    }
  });

  test("must be named where any is served, and none has a name", () => {
    const any = configured({ COMPLIANCE_BUSINESSES: "*" });
    expect(() => businessOf(any, {})).toThrow(/has no default business: give --business ID\.$/);
  });

  test("is one that is served where the command begins something new", () => {
    const config = configured({ COMPLIANCE_BUSINESS_ID: "biz_1", COMPLIANCE_BUSINESSES: "biz_2" });
    expect(servedBusinessOf(config, {})).toEqual({ connection: "default", businessId: "biz_1" });
    expect(() => servedBusinessOf(config, { business: "biz_9" })).toThrow(
      'The business "biz_9" is not served through the connection "default", so nothing was sent. Served: biz_1, biz_2.',
    );
    const any = configured({ COMPLIANCE_BUSINESSES: "*" });
    expect(servedBusinessOf(any, { business: "biz_9" })).toMatchObject({ businessId: "biz_9" });
  });

  test("is refused for a connection that is not configured, even if named; the error lists the connections", () => {
    const config = configured({ COMPLIANCE_BUSINESS_ID: "biz_1" });
    expect(() => businessOf(config, { connection: "other", business: "biz_1" })).toThrow(
      'The connection "other" is not configured here, so nothing was done. Configured: default.',
    );
  });

  test("is taken from the flag where no connection is configured, and must be named by it", () => {
    const config = loadConfig({ env: {} });
    expect(businessOf(config, { business: "biz_1" })).toEqual({ connection: "default", businessId: "biz_1" });
    expect(() => businessOf(config, {})).toThrow("Give --business ID");
  });
});
