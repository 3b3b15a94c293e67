import { describe, expect, it } from "vitest";
import { configSections } from "./settings.ts";
import { configReference, renderConfigExample, renderConfigTable } from "./test-support/config-reference.ts";
import { load } from "./test-support/load.ts";

const CONTRACT = `TEMPORAL_ADDRESS TEMPORAL_NAMESPACE TEMPORAL_API_KEY TEMPORAL_PROFILE
  TEMPORAL_CLI_PATH TEMPORAL_TEST_SERVER_PATH FISCALFLOW_CONFIG FISCALFLOW_HOME
  COMPLIANCE_BASE_URL COMPLIANCE_API_KEY COMPLIANCE_AUTH COMPLIANCE_KEY_REACH
  COMPLIANCE_BUSINESS_ID COMPLIANCE_APPLICATION COMPLIANCE_DIALECT ACCOUNTING_DIALECT
  ACCOUNTING_BASE_URL ACCOUNTING_API_KEY ACCOUNTING_CLIENT_SECRET ACCOUNTING_WEBHOOK_SECRET
  CALLBACK_PUBLIC_URL CALLBACK_SECRETS CALLBACK_PORT CALLBACK_HOST CALLBACK_ALLOW_LOOPBACK
  LEDGER_URL LEDGER_ALLOW_PLAINTEXT LOG_LEVEL HEALTH_PORT METRICS_PORT MONITORING_HOST
  FISCALFLOW_TIMING_CALL_TIMEOUT_MS`;

const SECRETS = {
  SHOP_COMPLIANCE_API_KEY: "cmp_sk_test_a",
  SHOP_ACCOUNTING_API_KEY: "sk_development_b",
  SHOP_ACCOUNTING_WEBHOOK_SECRET: "whsec_development_c",
  CALLBACK_SECRET_OF_THIS_YEAR: "0123456789abcdef0123456789abcdef",
  SHOP_LEDGER_URL: "postgres://a:b@db.example.com/ledger?sslmode=verify-full",
  PAYLOAD_KEY_OF_THIS_YEAR: `2026:${Buffer.alloc(32, 1).toString("base64")}`,
  SHOP_LEDGER_OWNER_URL: "postgres://c:d@db.example.com/ledger?sslmode=verify-full",
};
const readFile = (path: string) =>
  path.includes("client-secret")
    ? "cs_d"
    : path.includes("payload-key")
      ? `2025:${Buffer.alloc(32, 2).toString("base64")}`
      : "another-secret-of-at-least-32-characters";

describe("the reference of the configuration", () => {
  it("names every variable of the contract once, with a meaning and a default", () => {
    const names = configReference.flatMap(({ variable }) => variable.split(", "));
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(CONTRACT.split(/\s+/)));
    for (const { meaning, default: fallback } of configReference) expect([meaning, fallback]).not.toContain("");
  });

  it("is a Markdown table of four columns", () => {
    const rows = renderConfigTable().trimEnd().split("\n");
    expect(rows).toHaveLength(configReference.length + 2);
    for (const row of rows) expect(row.split("|")).toHaveLength(6);
    expect(rows).toContain(
      "| `COMPLIANCE_AUTH` | `compliance.<name>.auth` | the header that carries the key: `x-api-key`, or `bearer` for `Authorization: Bearer` | `x-api-key` |",
    );
  });
});

describe("the commented example", () => {
  it("shows every setting and leaves each at its default", () => {
    const example = renderConfigExample();
    for (const { settings } of configSections) {
      for (const key of Object.keys(settings)) expect(example).toContain(`"${key}":`);
    }
    const config = load(SECRETS, example, { readFile });
    const bare = load({});
    expect(config.timings).toEqual(bare.timings);
    expect(config.ledger).toEqual(bare.ledger);
    expect(config.callbacks).toBeUndefined();
    expect(config.compliance).toMatchObject([{ name: "shop", auth: "x-api-key", stockDefault: "on-submission" }]);
  });

  it("is accepted with every line taken out of its comment", () => {
    const everything = renderConfigExample().replaceAll(/^( *)\/\/ "/gm, '$1"');
    const config = load(SECRETS, everything, { readFile });
    expect(config.callbacks?.secrets).toHaveLength(2);
    expect(config.payloadKeys.map((key) => key.reveal().slice(0, 5))).toEqual(["2026:", "2025:"]);
    expect(config.ledger.url?.reveal()).toBe(SECRETS.SHOP_LEDGER_URL);
    expect(config.ledger.ownerUrl?.reveal()).toBe(SECRETS.SHOP_LEDGER_OWNER_URL);
    expect(config.accounting[0]?.clientSecret?.reveal()).toBe("cs_d");
    expect(config).toMatchObject({ healthPort: 8081, metricsPort: 9464 });
  });
});
