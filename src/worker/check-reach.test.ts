import { expect, test } from "vitest";

import { serve } from "../../activities/test-support/served.ts";
import { loadConfig } from "../config/index.ts";
import { checkReach } from "./check-reach.ts";

/** What is warned of, for a connection with these settings. */
async function warningsOf(
  env: Record<string, string>,
  { revoked = false, fails = false } = {},
): Promise<{ warnings: string[]; calls: number }> {
  const { simulator, context } = await serve({ env });
  if (revoked) simulator.setKey("cmp_sk_test_simulator", { revoked });
  if (fails) simulator.inject({ operation: "listBusinesses", when: "before", kind: "status", status: 503, times: 1 });
  const settings = {
    COMPLIANCE_BASE_URL: simulator.url,
    COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
    COMPLIANCE_BUSINESS_ID: "biz_1",
  };
  const { compliance } = loadConfig({ env: { ...settings, ...env } });
  const warnings: string[] = [];
  await checkReach(compliance, context.connections, { warn: (message) => void warnings.push(message) });
  return { warnings, calls: simulator.calls().length };
}

test("a key that reaches its business logs nothing, and costs one call", async () => {
  expect(await warningsOf({})).toEqual({ warnings: [], calls: 1 });
});

test("a key that does not reach its business is warned of once, with those that it reaches", async () => {
  const { warnings } = await warningsOf({ COMPLIANCE_BUSINESS_ID: "biz_9" });
  expect(warnings).toEqual([
    'the key of connection default does not reach "biz_9": set COMPLIANCE_BUSINESS_ID to one of: biz_1',
  ]);
});

test("a key is compared with each configured business, with one call and one warning", async () => {
  const more = { COMPLIANCE_BUSINESSES: "biz_1,biz_8,biz_9" };
  expect(await warningsOf(more)).toEqual({
    warnings: [
      'the key of connection default does not reach "biz_8", "biz_9": leave in COMPLIANCE_BUSINESSES and COMPLIANCE_BUSINESS_ID what it reaches: biz_1',
    ],
    calls: 1,
  });
  const withoutDefault = { COMPLIANCE_BUSINESS_ID: "", COMPLIANCE_BUSINESSES: "biz_9" };
  expect((await warningsOf(withoutDefault)).warnings).toEqual([expect.stringContaining('does not reach "biz_9"')]);
});

test("a refused key is reported by the circuit breaker alone", async () => {
  expect(await warningsOf({}, { revoked: true })).toEqual({ warnings: [], calls: 1 });
});

test("a service that cannot list businesses delays nothing, and causes a warning", async () => {
  const { warnings } = await warningsOf({}, { fails: true });
  expect(warnings).toEqual(["it is not known which businesses the key of connection default reaches"]);
});
