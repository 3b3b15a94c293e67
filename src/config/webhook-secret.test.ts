import { expect, test } from "vitest";

import { ConfigError } from "./config-error.ts";
import { loadConfig } from "./load-config.ts";

const ENV = {
  ACCOUNTING_BASE_URL: "https://accounting.example.com",
  ACCOUNTING_API_KEY: "sk_development_a",
  ACCOUNTING_DIALECT: '{"webhook":{"enabled":true}}',
  CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
  CALLBACK_SECRETS: "a secret of the tests that is long enough to be one",
};

function problemsOf(options: Parameters<typeof loadConfig>[0]): string[] {
  try {
    loadConfig(options);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
}

test("webhooks that are switched on need a secret, in the process that receives them", () => {
  expect(problemsOf({ env: ENV, needs: ["callbacks"] })).toEqual([
    expect.stringContaining("ACCOUNTING_DIALECT: dialect.webhook.enabled: expected a webhook secret beside it"),
  ]);
  const whole = { ...ENV, ACCOUNTING_WEBHOOK_SECRET: "whsec_development_a" };
  expect(problemsOf({ env: whole, needs: ["callbacks"] })).toEqual([]);
  expect(problemsOf({ env: { ...ENV, ACCOUNTING_DIALECT: "{}" }, needs: ["callbacks"] })).toEqual([]);
  expect(problemsOf({ env: ENV, needs: [] })).toEqual([]);
});

test("a wrong secret is reported once", () => {
  const env = { ...ENV, ACCOUNTING_WEBHOOK_SECRET: "cs_a" };
  expect(problemsOf({ env, needs: ["callbacks"] })).toEqual([expect.stringMatching(/^ACCOUNTING_WEBHOOK_SECRET: /)]);
});
