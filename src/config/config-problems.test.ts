import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  TEST_KEY,
  LIVE_KEY,
  CALLBACK_SECRET,
  COMPLIANCE,
  ACCOUNTING,
  CALLBACKS,
  load,
  errorOf,
  problemsOf,
  withConnections,
  SHOP,
} from "./test-support/load.ts";

describe("problems of the configuration", () => {
  it("come together in one message that names each setting, what was expected and what was found", () => {
    const error = errorOf({
      COMPLIANCE_BASE_URL: "api.example.com",
      COMPLIANCE_API_KEY: "cmp_sk_prod_very-secret",
      COMPLIANCE_AUTH: "basic",
      CALLBACK_PUBLIC_URL: "https://10.0.0.7/",
      CALLBACK_SECRETS: "too-short",
      LOG_LEVEL: "verbose",
      HEALTH_PORT: "80a",
      MONITORING_HOST: "localhost",
      FISCALFLOW_TIMING_SLOW_AFTER_MS: "1h",
    });
    expect(error).toMatchObject({ name: "ConfigError", code: "CONFIG_INVALID" });
    expect(error.message).toBe(
      [
        "The configuration has 10 problems; nothing was started.",
        '  - COMPLIANCE_BASE_URL: expected an absolute URL of at most 1000 characters (https://host, perhaps with a port and a path), found "api.example.com"',
        "  - COMPLIANCE_API_KEY: expected a key of the tax-compliance API, which begins with cmp_sk_test_ or cmp_sk_live_ and goes on without white space; found 23 other characters (not shown)",
        '  - COMPLIANCE_AUTH: expected "x-api-key" or "bearer", found "basic"',
        '  - COMPLIANCE_BUSINESSES: is missing, and so is the default business (businessId, COMPLIANCE_BUSINESS_ID): expected the businesses that are served, or "*" for any that the key reaches (`fiscalflow doctor` lists those)',
        "  - CALLBACK_SECRETS: entry 1: expected at least 32 characters, found 9; `openssl rand -base64 32` makes one",
        "  - CALLBACK_PUBLIC_URL: expected an absolute https URL of a public host, found 10.0.0.7, which the internet cannot reach",
        '  - FISCALFLOW_TIMING_SLOW_AFTER_MS: expected a whole number of milliseconds from 60000 to 2592000000, found "1h"',
        '  - LOG_LEVEL: expected "trace" or "debug" or "info" or "warn" or "error" or "fatal" or "silent", found "verbose"',
        '  - HEALTH_PORT: expected a TCP port from 0 to 65535 (0 takes any that is free), found "80a"',
        '  - MONITORING_HOST: expected an IP address such as 127.0.0.1, 0.0.0.0 or ::, found "localhost"',
      ].join("\n"),
    );
    expect(error.problems).toHaveLength(10);
  });

  it("name the settings that a partly configured connection or receiver lacks", () => {
    expect(problemsOf({ COMPLIANCE_AUTH: "bearer", CALLBACK_SECRETS: CALLBACK_SECRET })).toEqual([
      {
        path: "COMPLIANCE_BASE_URL",
        message: "is missing; expected the base address of the Compliance API, without `/v1`",
      },
      { path: "COMPLIANCE_API_KEY", message: "is missing; expected an API key: `cmp_sk_test_…` or `cmp_sk_live_…`" },
      { path: "COMPLIANCE_BUSINESSES", message: expect.stringMatching(/^is missing, and so is the default business/) },
      { path: "CALLBACK_PUBLIC_URL", message: "is missing; callbacks need a public URL and at least one secret" },
    ]);
    expect(problemsOf({ CALLBACK_PUBLIC_URL: "https://cb.example.com" }).map(({ path }) => path)).toEqual([
      "CALLBACK_SECRETS",
    ]);
    expect(problemsOf({}, withConnections({ shop: {} })).map(({ path }) => path)).toEqual([
      "compliance.shop.baseUrl",
      "compliance.shop.apiKey",
      "compliance.shop.businesses",
    ]);
  });

  it("include parts that the caller needs and that are not configured", () => {
    const needs = ["compliance", "callbacks"] as const;
    expect(problemsOf({}, undefined, { needs }).map(({ path }) => path)).toEqual([
      "COMPLIANCE_BASE_URL",
      "CALLBACK_PUBLIC_URL",
    ]);
    expect(() => load({ ...COMPLIANCE, ...ACCOUNTING, ...CALLBACKS }, undefined, { needs })).not.toThrow();
  });

  it("include a variable that is probably misspelt, but none that the file refers to or that belongs to another program", () => {
    expect(problemsOf({ COMPLIANCE_KEYREACH: "business", FISCALFLOW_TIMING_WHATEVER: "1" })).toEqual([
      { path: "COMPLIANCE_KEYREACH", message: expect.stringContaining("did you mean COMPLIANCE_KEY_REACH?") },
      { path: "FISCALFLOW_TIMING_WHATEVER", message: "is not known, so it would change nothing" },
    ]);
    const file = withConnections({ shop: { ...SHOP, apiKey: { env: "COMPLIANCE_API_KEY_B" } } });
    expect(
      load({ COMPLIANCE_API_KEY_B: TEST_KEY, CALLBACK_SERVICE_HOST: "10.0.0.1", PATH: "/bin" }, file).compliance,
    ).toHaveLength(1);
  });

  it("leave a variable that may be another program's, and name it for a warning, but none that Kubernetes or compose sets", () => {
    const env = {
      COMPLIANCE_PURCHASES_SWEEP_EVERY: "off",
      LEDGER_SERVICE_HOST: "10.0.0.1",
      LEDGER_PORT_5432_TCP_ADDR: "10.0.0.1",
      CALLBACK_SERVICE_PORT_HTTP: "80",
      FISCALFLOW_WORKER_PORT: "tcp://10.0.0.1:80",
      FISCALFLOW_ENV_FILE: ".env",
      ACCOUNTING_SHEET: "",
      COMPLIANCE_OF_A: TEST_KEY,
    };
    const file = withConnections({ shop: { ...SHOP, apiKey: { env: "COMPLIANCE_OF_A" } } });
    expect(load(env, file).unknownVariables).toEqual(["COMPLIANCE_PURCHASES_SWEEP_EVERY"]);
  });

  it("include timings that contradict each other", () => {
    const timings = {
      FISCALFLOW_TIMING_FIRST_POLL_MS: "60000",
      FISCALFLOW_TIMING_LONGEST_POLL_MS: "30000",
      FISCALFLOW_TIMING_LONGEST_POLL_AFTER_DAY_MS: "20000",
      FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS: "0",
    };
    expect(problemsOf(timings)).toEqual([
      {
        path: "FISCALFLOW_TIMING_FIRST_POLL_MS",
        message: "expected at most that of FISCALFLOW_TIMING_LONGEST_POLL_MS, 30000; found 60000",
      },
      {
        path: "FISCALFLOW_TIMING_LONGEST_POLL_MS",
        message: "expected at most that of FISCALFLOW_TIMING_LONGEST_POLL_AFTER_DAY_MS, 20000; found 30000",
      },
      {
        path: "FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS",
        message: "expected more than 0 for 3 resubmissions; FISCALFLOW_TIMING_RESUBMISSIONS of 0 ends them",
      },
    ]);
    expect(problemsOf({}, { timings: { longestPollMs: 1_000 } })).toEqual([
      { path: "timings.firstPollMs", message: "expected at most that of timings.longestPollMs, 1000; found 5000" },
    ]);
    const none = { FISCALFLOW_TIMING_RESUBMISSIONS: "0", FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS: "0" };
    expect(load(none).timings).toMatchObject({ resubmissions: 0 });
  });

  it("include those of a dialect", () => {
    const env = { ...COMPLIANCE, COMPLIANCE_DIALECT: '{"a":1,"pull":{"path":"x"}}', LOG_LEVEL: "loud" };
    expect(problemsOf(env)).toEqual([
      { path: "COMPLIANCE_DIALECT", message: 'dialect.pull.path: must be a path that begins with "/"' },
      { path: "COMPLIANCE_DIALECT", message: "dialect.a: the dialect has no such name" },
      { path: "LOG_LEVEL", message: expect.any(String) },
    ]);
  });

  it("never show a key that was put in the wrong place", () => {
    const error = errorOf({
      COMPLIANCE_BASE_URL: LIVE_KEY,
      COMPLIANCE_AUTH: LIVE_KEY,
      COMPLIANCE_APPLICATION: "whsec_production_zzzz9999",
      COMPLIANCE_DIALECT: "sk_production_zzzz9999",
      COMPLIANCE_API_KEY: `${LIVE_KEY}\n`,
      COMPLIANCE_BUSINESSES: "*",
      ACCOUNTING_BASE_URL: "https://user:zzzz9999@books.example.com",
      ACCOUNTING_API_KEY: LIVE_KEY,
      LEDGER_URL: "mysql://user:zzzz9999@db",
      CALLBACK_PUBLIC_URL: "https://cb.example.com/?token=zzzz9999",
      CALLBACK_SECRETS: "zzzz9999",
    });
    expect(error.problems).toHaveLength(10);
    expect(inspect(error)).not.toMatch(/bbbb2222|zzzz9999/);
  });
});
