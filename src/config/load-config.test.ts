import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { ConfigProblem } from "./config-error.ts";
import { ConfigError } from "./config-error.ts";
import { loadConfig } from "./load-config.ts";
import type { LoadConfigOptions } from "./load-config.ts";

const TEST_KEY = "cmp_sk_test_aaaa1111";
const LIVE_KEY = "cmp_sk_live_bbbb2222";
const CALLBACK_SECRET = "0123456789abcdef0123456789abcdef";
const COMPLIANCE = { COMPLIANCE_BASE_URL: "https://api.example.com", COMPLIANCE_API_KEY: TEST_KEY };
const ACCOUNTING = { ACCOUNTING_BASE_URL: "https://books.example.com", ACCOUNTING_API_KEY: "sk_production_cccc3333" };
const CALLBACKS = { CALLBACK_PUBLIC_URL: "https://cb.example.com", CALLBACK_SECRETS: CALLBACK_SECRET };

function load(env: Record<string, string>, file?: unknown, more: Partial<LoadConfigOptions> = {}) {
  const configFileText = file === undefined ? undefined : JSON.stringify(file);
  const readFile = (path: string): string => {
    throw Object.assign(new Error(`no such file: ${path}`), { code: "ENOENT" });
  };
  return loadConfig({ env, configFileText, readFile, workingDirectory: "/srv/app", ...more });
}

function errorOf(env: Record<string, string>, file?: unknown, more?: Partial<LoadConfigOptions>): ConfigError {
  try {
    load(env, file, more);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("The configuration was accepted.");
}

function problemsOf(
  env: Record<string, string>,
  file?: unknown,
  more?: Partial<LoadConfigOptions>,
): readonly ConfigProblem[] {
  return errorOf(env, file, more).problems;
}

/** A file with connections whose keys stand in variables. */
function withConnections(connections: Record<string, object>) {
  return { compliance: connections };
}

const SHOP = { baseUrl: "https://api.example.com", apiKey: { env: "SHOP_KEY" } };

describe("the configuration from variables", () => {
  it("is empty but for defaults when nothing is set", () => {
    expect(load({})).toEqual({
      compliance: [],
      accounting: [],
      callbacks: undefined,
      timings: {
        callTimeoutMs: 30_000,
        resubmissions: 3,
        resubmissionWindowMs: 300_000,
        firstPollMs: 5_000,
        firstPollWithCallbackMs: 60_000,
        longestPollMs: 600_000,
        longestPollAfterDayMs: 14_400_000,
        refusedKeyPauseMs: 30_000,
        failingPauseMs: 1_000,
        slowAfterMs: 3_600_000,
        catalogueAgeMs: 600_000,
        idempotencyKeyLifeMs: 86_400_000,
        fallbackLimitPerMinute: 120,
        refundWindowMs: 86_400_000,
      },
      ledger: { url: undefined, home: "/srv/app/.fiscalflow" },
      temporal: { cliPath: undefined, testServerPath: undefined },
      logLevel: "info",
      healthPort: undefined,
      metricsPort: undefined,
    });
  });

  it("makes the connection called default, with what is not set at its default", () => {
    const [connection, ...others] = load(COMPLIANCE).compliance;
    expect(others).toEqual([]);
    expect(connection).toMatchObject({
      name: "default",
      baseUrl: "https://api.example.com",
      environment: "test",
      auth: "x-api-key",
      keyReach: "organisation",
      businessId: undefined,
      application: "default",
      businessWeights: {},
      stockDefault: "on-submission",
      reconcile: {
        everyMs: 86_400_000,
        accounting: undefined,
        rule: { invoiceNumberIn: "billCode", supplier: "same-name", currency: "KES" },
      },
      dialect: undefined,
    });
    expect(connection?.apiKey.reveal()).toBe(TEST_KEY);
  });

  it("takes every variable", () => {
    const config = load({
      ...COMPLIANCE,
      COMPLIANCE_BASE_URL: "HTTPS://API.example.com:443/tax//",
      COMPLIANCE_AUTH: "bearer",
      COMPLIANCE_KEY_REACH: "business",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      COMPLIANCE_APPLICATION: "till",
      COMPLIANCE_STOCK_DEFAULT: "off",
      COMPLIANCE_RECONCILE_EVERY: "off",
      COMPLIANCE_RECONCILE_ACCOUNTING: "default",
      COMPLIANCE_RECONCILE_INVOICE_NUMBER_IN: "billPaymentCode",
      COMPLIANCE_RECONCILE_SUPPLIER: "any",
      COMPLIANCE_RECONCILE_CURRENCY: "UGX",
      COMPLIANCE_DIALECT: '{ "retry": { "businessIdIn": "body" } }',
      ...ACCOUNTING,
      ACCOUNTING_CLIENT_SECRET: "cs_dddd4444",
      ACCOUNTING_WEBHOOK_SECRET: "whsec_production_eeee5555,whsec_production_ffff6666",
      ...CALLBACKS,
      CALLBACK_SECRETS: `${CALLBACK_SECRET}, ${CALLBACK_SECRET}-older`,
      CALLBACK_PORT: "9000",
      LEDGER_URL: "postgres://fiscalflow:pass@db.example.com/ledger",
      FISCALFLOW_HOME: "state",
      TEMPORAL_CLI_PATH: "/usr/bin/temporal",
      TEMPORAL_TEST_SERVER_PATH: "/usr/bin/test-server",
      LOG_LEVEL: "debug",
      HEALTH_PORT: "0",
      METRICS_PORT: "9464",
      FISCALFLOW_TIMING_SLOW_AFTER_MS: "120000",
      FISCALFLOW_TIMING_FALLBACK_LIMIT_PER_MINUTE: "60",
    });
    expect(config.compliance[0]).toMatchObject({
      baseUrl: "https://api.example.com/tax",
      auth: "bearer",
      keyReach: "business",
      businessId: "biz_1",
      application: "till",
      businessWeights: {},
      stockDefault: "off",
      reconcile: {
        everyMs: null,
        accounting: "default",
        rule: { invoiceNumberIn: "billPaymentCode", supplier: "any", currency: "UGX" },
      },
      dialect: { retry: { businessIdIn: "body" } },
    });
    expect(config.accounting[0]).toMatchObject({ name: "default", environment: "production" });
    expect(config.accounting[0]?.clientSecret?.reveal()).toBe("cs_dddd4444");
    expect(config.accounting[0]?.webhookSecrets).toHaveLength(2);
    expect(config.callbacks).toMatchObject({ publicUrl: "https://cb.example.com", port: 9000, allowLoopback: false });
    expect(config.callbacks?.secrets.map((secret) => secret.reveal())).toEqual([
      CALLBACK_SECRET,
      `${CALLBACK_SECRET}-older`,
    ]);
    expect(config.ledger.url?.reveal()).toBe("postgres://fiscalflow:pass@db.example.com/ledger");
    expect(config.ledger.home).toBe("/srv/app/state");
    expect(config.temporal).toEqual({ cliPath: "/usr/bin/temporal", testServerPath: "/usr/bin/test-server" });
    expect(config).toMatchObject({ logLevel: "debug", healthPort: 0, metricsPort: 9464 });
    expect(config.timings).toMatchObject({ slowAfterMs: 120_000, fallbackLimitPerMinute: 60 });
  });

  it("takes an empty variable for one that is not set", () => {
    expect(load({ COMPLIANCE_BASE_URL: "", COMPLIANCE_API_KEY: "", LOG_LEVEL: "", CALLBACK_SECRETS: "" })).toEqual(
      load({}),
    );
  });

  it("does not take a port alone for a wish for callbacks", () => {
    expect(load({ CALLBACK_PORT: "8080", CALLBACK_ALLOW_LOOPBACK: "1" }).callbacks).toBeUndefined();
  });

  it("reads a dialect from the path that the variable names, from the working directory", () => {
    const readFile = (path: string) => (path === "/srv/app/dialect.json" ? '{ "pull": null } // ours' : "");
    const env = { ...COMPLIANCE, COMPLIANCE_DIALECT: "dialect.json" };
    expect(load(env, undefined, { readFile }).compliance[0]?.dialect).toEqual({ pull: null });
  });
});

describe("the configuration from a file", () => {
  it("names several connections, whose secrets stand in variables and files", () => {
    const readFile = (path: string): string => {
      if (path === "/etc/fiscalflow/keys/b") return `${LIVE_KEY}\n`;
      if (path === "/etc/fiscalflow/b.json") return "{}";
      if (path !== "/etc/fiscalflow/config.json") throw new Error(path);
      return `{
        // Two shops.
        "compliance": {
          "shop-a": { "baseUrl": "https://api.example.com", "apiKey": { "env": "SHOP_A" }, "businessId": "a" },
          "shop-b": { "baseUrl": "https://api.example.com", "apiKey": { "file": "keys/b" }, "businessId": "b", "dialect": "b.json" },
        },
        "timings": { "firstPollMs": 2000 },
        "logLevel": "warn"
      }`;
    };
    const config = load({ FISCALFLOW_CONFIG: "/etc/fiscalflow/config.json", SHOP_A: TEST_KEY }, undefined, {
      readFile,
    });
    expect(config.compliance.map(({ name, environment, application }) => [name, environment, application])).toEqual([
      ["shop-a", "test", "shop-a"],
      ["shop-b", "live", "shop-b"],
    ]);
    expect(config.compliance[1]?.apiKey.reveal()).toBe(LIVE_KEY);
    expect(config.compliance[1]?.dialect).toEqual({});
    expect(config.timings.firstPollMs).toBe(2_000);
    expect(config.logLevel).toBe("warn");
  });

  it("gives way to variables, setting by setting, of connections only for the one called default", () => {
    const connection = { ...SHOP, auth: "bearer", businessId: "from-file" };
    const file = {
      compliance: { default: connection, other: { ...connection, businessId: "other", apiKey: { env: "OTHER" } } },
      logLevel: "warn",
      healthPort: 1,
    };
    const env = { SHOP_KEY: TEST_KEY, OTHER: LIVE_KEY, COMPLIANCE_BUSINESS_ID: "from-variable", LOG_LEVEL: "error" };
    const config = load(env, file);
    expect(config.compliance.map(({ name, auth, businessId }) => [name, auth, businessId])).toEqual([
      ["default", "bearer", "from-variable"],
      ["other", "bearer", "other"],
    ]);
    expect(config).toMatchObject({ logLevel: "error", healthPort: 1 });
  });

  it("never holds a secret itself, and the refusal does not repeat it", () => {
    const file = {
      compliance: { shop: { ...SHOP, apiKey: LIVE_KEY } },
      callbacks: { publicUrl: "https://cb.example.com", secrets: [CALLBACK_SECRET] },
      ledger: { url: "postgres://user:hunter2@db/ledger" },
    };
    const error = errorOf({}, file);
    expect(error.problems).toEqual([
      {
        path: "compliance.shop.apiKey",
        message:
          'expected a reference, { "env": "NAME" } or { "file": "PATH" }, found a literal (not shown); secrets do not belong in this file',
      },
      {
        path: "callbacks.secrets",
        message:
          'secret 1 of 1: expected a reference, { "env": "NAME" } or { "file": "PATH" }, found a literal (not shown); secrets do not belong in this file',
      },
      expect.objectContaining({ path: "ledger.url" }),
    ]);
    for (const hidden of [LIVE_KEY, CALLBACK_SECRET, "hunter2"]) expect(inspect(error)).not.toContain(hidden);
  });

  it("says which variable or file a secret was looked for in", () => {
    const missing = { compliance: { shop: SHOP, other: { ...SHOP, apiKey: { file: "keys/other" } } } };
    expect(problemsOf({}, missing)).toEqual([
      { path: "compliance.shop.apiKey", message: 'refers to the variable "SHOP_KEY", which is not set' },
      { path: "compliance.other.apiKey", message: 'refers to the file "keys/other", which cannot be read (ENOENT)' },
    ]);
    const [wrong] = problemsOf({ SHOP_KEY: "sk_production_x" }, withConnections({ shop: SHOP }));
    expect(wrong?.message).toMatch(
      /found one that begins with sk_production_, an API key of the accounting service.*variable "SHOP_KEY"/,
    );
  });

  it("does not take what every object has for a variable or a setting", () => {
    const file = { compliance: { shop: { ...SHOP, apiKey: { env: "toString" } } }, constructor: 1 };
    expect(problemsOf({}, file).map(({ message }) => message)).toEqual([
      'refers to the variable "toString", which is not set',
      expect.stringContaining('unknown key "constructor"'),
    ]);
  });

  it("is refused with line and column where it is not JSON, and with the reason where it cannot be read", () => {
    const path = "FISCALFLOW_CONFIG";
    expect(problemsOf({}, undefined, { configFileText: '{\n  "logLevel": warn\n}' })).toEqual([
      {
        path,
        message: expect.stringMatching(/^the configuration file is not JSON; at line 2, column 15: expected a value/),
      },
    ]);
    expect(problemsOf({ FISCALFLOW_CONFIG: "nowhere.json" })).toEqual([
      { path, message: 'expected the path of a JSON file, found "nowhere.json", which cannot be read (ENOENT)' },
    ]);
    expect(problemsOf({}, ["list"])).toEqual([{ path: "the file", message: "expected an object, found a list" }]);
  });

  it("may hold no key that is not known, and says what was likely meant", () => {
    const file = {
      complience: {},
      compliance: { shop: { ...SHOP, bussinessId: "biz_1", colour: "red" } },
      timings: { slowAfterMS: 1 },
      callbacks: null,
    };
    expect(problemsOf({ SHOP_KEY: TEST_KEY }, file)).toEqual([
      { path: "compliance.shop", message: 'has an unknown key "bussinessId"; did you mean "businessId"?' },
      {
        path: "compliance.shop",
        message: expect.stringContaining('unknown key "colour"; known here: baseUrl, apiKey,'),
      },
      { path: "callbacks", message: "expected an object, found null" },
      { path: "timings", message: 'has an unknown key "slowAfterMS"; did you mean "slowAfterMs"?' },
      { path: "the file", message: 'has an unknown key "complience"; did you mean "compliance"?' },
    ]);
  });
});

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
      FISCALFLOW_TIMING_SLOW_AFTER_MS: "1h",
    });
    expect(error).toMatchObject({ name: "ConfigError", code: "CONFIG_INVALID" });
    expect(error.message).toBe(
      [
        "The configuration has 8 problems; nothing was started.",
        '  - COMPLIANCE_BASE_URL: expected an absolute URL (https://host, perhaps with a port and a path), found "api.example.com"',
        "  - COMPLIANCE_API_KEY: expected an API key of the compliance service, which begins with cmp_sk_test_ or cmp_sk_live_; found 23 characters with another beginning (not shown)",
        '  - COMPLIANCE_AUTH: expected "x-api-key" or "bearer", found "basic"',
        "  - CALLBACK_SECRETS: secret 1 of 1: expected at least 32 characters, found 9; `openssl rand -base64 32` makes one",
        "  - CALLBACK_PUBLIC_URL: expected an absolute https URL of a public host, found 10.0.0.7, which the internet cannot reach",
        '  - FISCALFLOW_TIMING_SLOW_AFTER_MS: expected a whole number of milliseconds from 60000 to 2592000000, found "1h"',
        '  - LOG_LEVEL: expected "trace" or "debug" or "info" or "warn" or "error" or "fatal" or "silent", found "verbose"',
        '  - HEALTH_PORT: expected a TCP port from 0 to 65535 (0 takes any that is free), found "80a"',
      ].join("\n"),
    );
    expect(error.problems).toHaveLength(8);
  });

  it("name what is missing where something is begun", () => {
    expect(problemsOf({ COMPLIANCE_AUTH: "bearer", CALLBACK_SECRETS: CALLBACK_SECRET })).toEqual([
      {
        path: "COMPLIANCE_BASE_URL",
        message: "is missing; expected the base address of the Compliance API, without `/v1`",
      },
      { path: "COMPLIANCE_API_KEY", message: "is missing; expected an API key: `cmp_sk_test_…` or `cmp_sk_live_…`" },
      { path: "CALLBACK_PUBLIC_URL", message: "is missing; callbacks need it besides the secrets" },
    ]);
    expect(problemsOf({ CALLBACK_PUBLIC_URL: "https://cb.example.com" }).map(({ path }) => path)).toEqual([
      "CALLBACK_SECRETS",
    ]);
    expect(problemsOf({}, withConnections({ shop: {} })).map(({ path }) => path)).toEqual([
      "compliance.shop.baseUrl",
      "compliance.shop.apiKey",
    ]);
  });

  it("include parts that the caller needs and nobody has configured", () => {
    const needs = ["compliance", "accounting", "callbacks"] as const;
    expect(problemsOf({}, undefined, { needs }).map(({ path }) => path)).toEqual([
      "COMPLIANCE_BASE_URL",
      "ACCOUNTING_BASE_URL",
      "CALLBACK_PUBLIC_URL",
    ]);
    expect(() => load({ ...COMPLIANCE, ...ACCOUNTING, ...CALLBACKS }, undefined, { needs })).not.toThrow();
  });

  it("include a variable that is likely a slip, but none that the file refers to or that is somebody else's", () => {
    expect(problemsOf({ COMPLIANCE_KEYREACH: "business", FISCALFLOW_TIMING_WHATEVER: "1" })).toEqual([
      { path: "COMPLIANCE_KEYREACH", message: expect.stringContaining("did you mean COMPLIANCE_KEY_REACH?") },
      { path: "FISCALFLOW_TIMING_WHATEVER", message: "is not known, so it would change nothing" },
    ]);
    const file = withConnections({ shop: { ...SHOP, apiKey: { env: "COMPLIANCE_API_KEY_B" } } });
    expect(
      load({ COMPLIANCE_API_KEY_B: TEST_KEY, CALLBACK_SERVICE_HOST: "10.0.0.1", PATH: "/bin" }, file).compliance,
    ).toHaveLength(1);
  });

  it("include what the clients find in a dialect, where they are asked", () => {
    const dialectProblems = {
      compliance: (dialect: unknown) => Object.keys(Object(dialect)).map((key) => `no ${key}`),
    };
    const env = { ...COMPLIANCE, COMPLIANCE_DIALECT: '{"a":1,"b":2}', LOG_LEVEL: "loud" };
    expect(problemsOf(env, undefined, { dialectProblems })).toEqual([
      { path: "COMPLIANCE_DIALECT", message: "no a" },
      { path: "COMPLIANCE_DIALECT", message: "no b" },
      { path: "LOG_LEVEL", message: expect.any(String) },
    ]);
    expect(load(COMPLIANCE, undefined, { dialectProblems }).compliance).toHaveLength(1);
  });

  it("never show a key that was put in the wrong place", () => {
    const error = errorOf({
      COMPLIANCE_BASE_URL: LIVE_KEY,
      COMPLIANCE_AUTH: LIVE_KEY,
      COMPLIANCE_APPLICATION: "whsec_production_zzzz9999",
      COMPLIANCE_DIALECT: "sk_production_zzzz9999",
      COMPLIANCE_API_KEY: `${LIVE_KEY}\n`,
      ACCOUNTING_BASE_URL: "https://user:zzzz9999@books.example.com",
      ACCOUNTING_API_KEY: LIVE_KEY,
      LEDGER_URL: "mysql://user:zzzz9999@db",
      CALLBACK_PUBLIC_URL: "https://cb.example.com/?token=zzzz9999",
      CALLBACK_SECRETS: "zzzz9999",
    });
    expect(error.problems).toHaveLength(10);
    expect(inspect(error)).not.toMatch(/bbbb2222|zzzz9999/);
  });

  it("explain a port that Kubernetes has set", () => {
    expect(problemsOf({ CALLBACK_PORT: "tcp://10.0.0.1:80" })[0]?.message).toMatch(/enableServiceLinks/);
  });

  it("include waits that do not grow", () => {
    expect(problemsOf({ FISCALFLOW_TIMING_FIRST_POLL_MS: "700000" })).toEqual([
      {
        path: "FISCALFLOW_TIMING_LONGEST_POLL_MS",
        message: "expected at least FISCALFLOW_TIMING_FIRST_POLL_MS, 700000 milliseconds; found 600000",
      },
    ]);
    expect(problemsOf({}, { timings: { longestPollAfterDayMs: 60_000 } })).toEqual([
      {
        path: "timings.longestPollAfterDayMs",
        message: "expected at least timings.longestPollMs, 600000 milliseconds; found 60000",
      },
    ]);
  });
});

describe("base URLs", () => {
  const problem = (url: string) => problemsOf({ ...COMPLIANCE, COMPLIANCE_BASE_URL: url })[0]?.message;

  it.each(["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080", "https://api.example.com/tax"])(
    "may be %s",
    (url) => {
      expect(load({ ...COMPLIANCE, COMPLIANCE_BASE_URL: url }).compliance[0]?.baseUrl).toBe(url);
    },
  );

  it.each([
    ["http://api.example.com", /expected https.*found http to api\.example\.com/],
    ["http://127.0.0.1.example.com", /expected https/],
    ["ftp://api.example.com", /expected an absolute URL.*found "ftp:/],
    ["https:api.example.com", /expected an absolute URL/],
    ["https://", /expected an absolute URL/],
    ["https://api.example.com/a b", /expected an absolute URL/],
    ["https://user@api.example.com", /user name or password/],
    ["https://@api.example.com", /user name or password/],
    ["https://api.example.com?", /a query/],
    ["https://api.example.com/#", /a fragment/],
    ["https://api.example.com/v1/", /found one that ends in \/v1/],
  ])("may not be %s", (url, message) => {
    expect(problem(url)).toMatch(message);
  });
});

describe("the public URL of callbacks", () => {
  const withUrl = (url: string, more = {}) => ({ ...CALLBACKS, CALLBACK_PUBLIC_URL: url, ...more });

  it("is kept without a slash at its end", () => {
    expect(load(withUrl("https://CB.example.com:443/tax/")).callbacks?.publicUrl).toBe("https://cb.example.com/tax");
  });

  it.each([
    ["http://cb.example.com", /must not travel in the clear/],
    ["https://receiver", /found receiver, which the internet cannot reach/],
    ["https://192.168.1.5", /cannot reach/],
    ["https://localhost:8080", /set CALLBACK_ALLOW_LOOPBACK=1/],
    ["http://127.0.0.1:8080", /set CALLBACK_ALLOW_LOOPBACK=1/],
    ["https://cb.example.com/?a=1", /a query/],
    ["https://cb.example.com/#a", /a fragment/],
    ["https://u:p@cb.example.com", /user name or password/],
  ])("may not be %s", (url, message) => {
    expect(problemsOf(withUrl(url))).toEqual([
      { path: "CALLBACK_PUBLIC_URL", message: expect.stringMatching(message) },
    ]);
  });

  it("may be on loopback, and nowhere else that is private, where that is allowed", () => {
    const allow = { CALLBACK_ALLOW_LOOPBACK: "1" };
    expect(load(withUrl("http://127.0.0.1:8080", allow)).callbacks?.publicUrl).toBe("http://127.0.0.1:8080");
    expect(load(withUrl("http://localhost:8080/", allow)).callbacks?.publicUrl).toBe("http://localhost:8080");
    expect(load(withUrl("https://cb.example.com", allow)).callbacks?.allowLoopback).toBe(true);
    expect(problemsOf(withUrl("http://cb.example.com", allow))).toHaveLength(1);
    expect(problemsOf(withUrl("https://10.0.0.1", allow))).toHaveLength(1);
  });

  it("leaves room for the longest token within the API's 2048 characters", () => {
    const host = "https://cb.example.com/";
    const problem = problemsOf(withUrl(host + "x".repeat(2_000)))[0]?.message ?? "";
    const most = Number(/at most (\d+) characters/.exec(problem)?.[1]);
    expect(most).toBeGreaterThan(1_500);
    expect(load(withUrl(host + "x".repeat(most - host.length))).callbacks?.publicUrl).toHaveLength(most);
    expect(problemsOf(withUrl(host + "x".repeat(most - host.length + 1)))).toHaveLength(1);
  });

  it("comes with secrets that are long enough and different", () => {
    const secrets = (text: string) =>
      problemsOf({ ...CALLBACKS, CALLBACK_SECRETS: text }).map(({ message }) => message);
    expect(secrets(`${CALLBACK_SECRET},${CALLBACK_SECRET}`)).toEqual([
      expect.stringMatching(/secret 2 of 2: .*stands there twice/),
    ]);
    expect(secrets(`${CALLBACK_SECRET},,short`)).toEqual([
      "secret 2 of 3: expected a secret, found an empty one",
      expect.stringMatching(/^secret 3 of 3: expected at least 32 characters, found 5/),
    ]);
  });
});
