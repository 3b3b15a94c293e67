import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  TEST_KEY,
  LIVE_KEY,
  CALLBACK_SECRET,
  load,
  errorOf,
  problemsOf,
  withConnections,
  SHOP,
} from "./test-support/load.ts";

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
    expect(config.compliance[1]).toMatchObject({
      statesSaleKey: false,
      dialect: { createSale: { idempotencyKey: "sent" } },
    });
    expect(config.timings.firstPollMs).toBe(2_000);
    expect(config.logLevel).toBe("warn");
  });

  it("is overridden by variables, setting by setting, and of the connections only the one called default", () => {
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
          'expected a reference, { "env": "NAME" } or { "file": "PATH" }, found a literal (not shown); secrets do not belong in this file',
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
    expect(wrong?.message).toMatch(/found an API key of the accounting service, which begins with .* \(not shown\)/);
  });

  it("is refused with line and column where it is not JSON, and with the reason where it cannot be read", () => {
    const path = "FISCALFLOW_CONFIG";
    expect(problemsOf({}, '{\n  "logLevel": warn\n}')).toEqual([
      {
        path,
        message: expect.stringMatching(/^"\/srv\/app\/config\.json" is not JSON; at line 2, column 15: invalid symbol/),
      },
    ]);
    expect(problemsOf({ FISCALFLOW_CONFIG: "nowhere.json" })).toEqual([
      { path, message: 'expected the path of a JSON file, found "nowhere.json", which cannot be read (ENOENT)' },
    ]);
    expect(problemsOf({}, ["list"])).toEqual([{ path: "the file", message: "expected an object, found a list" }]);
  });

  it("is refused with an unknown key, and the message suggests the known one", () => {
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
