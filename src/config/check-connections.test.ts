import { describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { load } from "./test-support/load.ts";

const ENV = {
  TEST_A: "cmp_sk_test_a",
  TEST_B: "cmp_sk_test_b",
  LIVE: "cmp_sk_live_c",
  BOOKS_DEV: "sk_development_d",
  BOOKS: "sk_production_e",
  HOOK_DEV: "whsec_development_f",
  HOOK: "whsec_production_g",
};
const key = (name: keyof typeof ENV) => ({ env: name });
const BASE = "https://api.example.com";

function problems(file: object, env: Record<string, string> = ENV): string[] {
  try {
    load(env, file);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
}

const compliance = (connections: Record<string, object>, env?: Record<string, string>) =>
  problems({ compliance: connections }, env);
const accounting = (connections: Record<string, object>) => problems({ accounting: connections });

/** A key for each of many connections. */
const KEYS = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`SHOP_${n + 1}`, `cmp_sk_test_shop_${n + 1}`]));
const keyOf = (n: number) => ({ env: `SHOP_${n}` });

function manyOf(count: number, of: (n: number) => object): Record<string, object> {
  const numbers = Array.from({ length: count }, (_, n) => n + 1);
  return Object.fromEntries(numbers.map((n) => [`shop-${n}`, { baseUrl: BASE, ...of(n) }]));
}

describe("connections to the Compliance API", () => {
  it("of one business are refused, whatever their keys reach", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1" };
    const b = { baseUrl: `${BASE}/`, apiKey: key("TEST_B"), businessId: "biz_1" };
    const expected = `compliance.b.businessId: expected one connection for each business; "a" and "b" both reach "biz_1" at ${BASE}. Take that out of one of them`;
    expect(compliance({ a, b })).toEqual([expected]);
    expect(compliance({ a, b: { ...b, keyReach: "business" } })).toEqual([expected]);
    expect(compliance({ a: { ...a, keyReach: "business" }, b: { ...b, keyReach: "business" } })).toEqual([expected]);
  });

  it("of one business are refused where one of them, or both, name it beside others", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1", businesses: ["biz_2", "biz_3"] };
    const b = { baseUrl: BASE, apiKey: key("TEST_B") };
    const refusal = (ids: string) =>
      expect.stringContaining(`"a" and "b" both reach ${ids} at ${BASE}. Take that out of one of them`);
    expect(compliance({ a, b: { ...b, businessId: "biz_3" } })).toEqual([refusal('"biz_3"')]);
    const lists = compliance({ a, b: { ...b, businessId: "biz_4", businesses: ["biz_3", "biz_2"] } });
    expect(lists).toEqual([refusal('"biz_3" and "biz_2"')]);
    expect(lists[0]).toMatch(/^compliance\.b\.businesses: /);
    expect(compliance({ a, b: { ...b, businesses: ["biz_4", "biz_5"] } })).toEqual([]);
  });

  it("of one business are one problem, however many there are", () => {
    const fifty = manyOf(50, (n) => ({ businessId: "biz_1", apiKey: keyOf(n) }));
    expect(compliance(fifty, KEYS)).toEqual([
      `compliance.shop-2.businessId: expected one connection for each business; "shop-1", "shop-2", "shop-3", "shop-4", "shop-5", and 45 more all reach "biz_1" at ${BASE}. Take that out of all but one of them`,
    ]);
    const lists = manyOf(50, (n) => ({ businesses: [`biz_of_${n}`, "biz_1", "biz_2"], apiKey: keyOf(n) }));
    expect(compliance(lists, KEYS)).toEqual([expect.stringMatching(/45 more all reach "biz_1" and "biz_2" at/)]);
    const pairs = manyOf(50, (n) => ({ businessId: `biz_${n % 25}`, apiKey: keyOf(n) }));
    expect(compliance(pairs, KEYS)).toHaveLength(25);
    const same = Array.from({ length: 30 }, (_, n) => `biz_${n}`);
    const long = manyOf(3, (n) => ({ businesses: same, apiKey: keyOf(n) }));
    expect(compliance(long, KEYS)).toEqual([expect.stringContaining('"biz_3", "biz_4", and 25 more at')]);
  });

  it("of one key, or of one application, are one problem, however many there are", () => {
    const ofOneKey = manyOf(50, (n) => ({ businessId: `biz_${n}`, apiKey: keyOf(1) }));
    expect(compliance(ofOneKey, KEYS)).toEqual([
      'compliance.shop-2.apiKey: expected one connection for each key; "shop-1", "shop-2", "shop-3", "shop-4", "shop-5", and 45 more have the same one and so reach the same businesses. Keep one of them',
    ]);
    const ofOneKeyAndBusiness = manyOf(50, () => ({ businessId: "biz_1", apiKey: keyOf(1) }));
    expect(compliance(ofOneKeyAndBusiness, KEYS)).toHaveLength(1);
    const ofOneApplication = manyOf(50, (n) => ({
      businessId: `biz_${n}`,
      apiKey: n === 50 ? key("LIVE") : keyOf(n),
      application: "shops",
      baseUrl: n % 2 === 0 ? BASE : `https://${n}.example.com`,
    }));
    expect(compliance(ofOneApplication, { ...KEYS, ...ENV })).toEqual([
      expect.stringMatching(
        /^compliance\.shop-50\.apiKey: .* "shop-1" and "shop-50" .*; found a test key and a live key/,
      ),
      expect.stringMatching(/^compliance\.shop-2\.baseUrl: .* "shop-5", and 45 more .*https:\/\/7.*, and 21 more\./),
    ]);
    const books = manyOf(50, () => ({ apiKey: key("BOOKS") }));
    expect(accounting(books)).toEqual([expect.stringMatching(/"shop-5", and 45 more have the same one/)]);
  });

  it("of one key are refused, since they reach the same businesses", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1" };
    expect(compliance({ a, b: { ...a, businessId: "biz_2" } })).toEqual([
      expect.stringMatching(
        /^compliance\.b\.apiKey: expected one connection for each key; "a" and "b" have the same one/,
      ),
    ]);
  });

  it("of different businesses, or of one id at different services, are two", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1" };
    expect(compliance({ a, b: { ...a, apiKey: key("TEST_B"), businessId: "biz_2" } })).toEqual([]);
    expect(compliance({ a, b: { ...a, baseUrl: "https://other.example.com" } })).toEqual([]);
  });

  it("name the business that their key is bound to", () => {
    expect(compliance({ a: { baseUrl: BASE, apiKey: key("TEST_A"), keyReach: "business" } })).toEqual([
      expect.stringMatching(/^compliance\.a\.businessId: is missing; with the key reach "business"/),
    ]);
    const env = { COMPLIANCE_BASE_URL: BASE, COMPLIANCE_API_KEY: ENV.LIVE, COMPLIANCE_KEY_REACH: "business" };
    expect(compliance({}, env)).toEqual([expect.stringMatching(/^COMPLIANCE_BUSINESS_ID: is missing/)]);
  });

  it("name no other business than the one that their key is bound to", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), keyReach: "business", businessId: "biz_1" };
    expect(compliance({ a: { ...a, businesses: ["biz_1"] } })).toEqual([]);
    expect(compliance({ a: { ...a, businesses: ["biz_1", "biz_2"] } })).toEqual([
      'compliance.a.businesses: expected no business besides "biz_1", to which the key is bound by its reach "business"; found "biz_2". If the key is organisation-wide, its reach is "organisation"',
    ]);
    expect(compliance({ a: { ...a, businesses: ["biz_2"], businessId: undefined } })).toHaveLength(1);
  });

  it("of one application have keys of one environment and one base URL", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1", application: "till" };
    const b = { ...a, apiKey: key("LIVE"), businessId: "biz_2" };
    expect(compliance({ a, b })).toEqual([
      'compliance.b.apiKey: expected keys of one environment for the connections "a" and "b" of the application "till"; found a test key and a live key. Use keys of one environment, or give each an application of its own',
    ]);
    expect(compliance({ a, b: { ...b, application: "shop" } })).toEqual([]);
    expect(compliance({ till: { ...a, application: undefined }, b })).toHaveLength(1);
    expect(compliance({ a, b: { ...b, apiKey: key("TEST_B"), baseUrl: "https://other.example.com" } })).toEqual([
      expect.stringMatching(/^compliance\.b\.baseUrl: expected one base URL for the connections "a" and "b"/),
    ]);
  });

  it("are compared even where one of them has another problem", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1", auth: "basic" };
    const b = { baseUrl: BASE, apiKey: key("LIVE"), businessId: "biz_1" };
    expect(compliance({ a, b })).toHaveLength(2);
  });

  it("have names that fit into task queues", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1" };
    for (const name of ["Shop", "shop_a", "", "x".repeat(33), "shop.background"]) {
      expect(compliance({ [name]: a })).toEqual([
        expect.stringMatching(/^compliance: expected a connection's name of 1 to 32/),
      ]);
    }
    expect(compliance({ a: { ...a, application: "Till 1" } })).toEqual([
      'compliance.a.application: expected a name of 1 to 32 characters from a-z, 0-9 and -, found "Till 1"',
    ]);
  });

  it("name a business of at most 64 bytes", () => {
    const a = { baseUrl: BASE, apiKey: key("TEST_A") };
    expect(compliance({ a: { ...a, businessId: "é".repeat(32) } })).toEqual([]);
    expect(compliance({ a: { ...a, businessId: "é".repeat(33) } })).toHaveLength(1);
    expect(compliance({ a: { ...a, businessId: " biz_1" } })).toHaveLength(1);
  });
});

describe("the reconciliation of a connection", () => {
  const a = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1" };
  const books = { baseUrl: BASE, apiKey: key("BOOKS_DEV") };

  it("refers to an existing connection to the accounting service", () => {
    const file = (name: string) => ({ compliance: { a: { ...a, reconcileAccounting: name } }, accounting: { books } });
    expect(problems(file("books"))).toEqual([]);
    expect(problems(file("a"))).toEqual([
      'compliance.a.reconcileAccounting: expected a configured connection to the accounting service (books), found "a"',
    ]);
  });

  it("has a rule with known values", () => {
    const rule = { reconcileInvoiceNumberIn: "note", reconcileSupplier: "all" };
    expect(compliance({ a: { ...a, ...rule } })).toEqual([
      'compliance.a.reconcileInvoiceNumberIn: expected "billCode" or "billPaymentCode", found "note"',
      'compliance.a.reconcileSupplier: expected "same-name" or "any", found "all"',
    ]);
  });
});

describe("connections to the accounting service", () => {
  it("have a key of the environment of the compliance connections beside them", () => {
    const test = { baseUrl: BASE, apiKey: key("TEST_A"), businessId: "biz_1" };
    const live = { baseUrl: BASE, apiKey: key("LIVE"), businessId: "biz_2" };
    const development = { baseUrl: BASE, apiKey: key("BOOKS_DEV") };
    const production = { baseUrl: BASE, apiKey: key("BOOKS") };
    const refusal = (expected: string, of: string, found: string) =>
      `accounting.books.apiKey: expected a ${expected} key beside the ${of}; found a ${found} key. Use keys of one environment`;
    expect(problems({ compliance: { test }, accounting: { books: production } })).toEqual([
      refusal("development", 'test key of the compliance connection "test"', "production"),
    ]);
    expect(problems({ compliance: { live }, accounting: { books: development } })).toEqual([
      refusal("production", 'live key of the compliance connection "live"', "development"),
    ]);
    expect(problems({ compliance: { test }, accounting: { books: development } })).toEqual([]);
    // A test connection beside a live one has accounting of its own, or none.
    expect(problems({ compliance: { test, live }, accounting: { books: production, tests: development } })).toEqual([]);
    expect(problems({ compliance: { test, live }, accounting: { books: production } })).toEqual([]);
    const reconciled = { ...test, reconcileAccounting: "books" };
    expect(problems({ compliance: { test: reconciled, live }, accounting: { books: production } })).toEqual([
      refusal("development", 'test key of the compliance connection "test"', "production"),
    ]);
    expect(problems({ compliance: { books: test, live }, accounting: { books: production } })).toHaveLength(1);
  });

  it("have webhook secrets of the key's environment", () => {
    const a = { baseUrl: BASE, apiKey: key("BOOKS") };
    expect(accounting({ a: { ...a, webhookSecrets: [key("HOOK")] } })).toEqual([]);
    expect(accounting({ a: { ...a, webhookSecrets: [key("HOOK"), key("HOOK_DEV")] } })).toEqual([
      "accounting.a.webhookSecrets: expected a webhook secret of the API key's environment, production; found one of development",
    ]);
    expect(accounting({ a: { ...a, apiKey: key("BOOKS_DEV"), webhookSecrets: [key("HOOK")] } })).toHaveLength(1);
  });

  it("of one key are refused", () => {
    const a = { baseUrl: BASE, apiKey: key("BOOKS") };
    expect(accounting({ a, b: a })).toEqual([
      expect.stringMatching(/^accounting\.b\.apiKey: expected one connection for each key/),
    ]);
    expect(accounting({ a, b: { ...a, apiKey: key("BOOKS_DEV") } })).toEqual([]);
  });

  it("take keys of their own forms only", () => {
    expect(
      accounting({
        a: { baseUrl: BASE, apiKey: key("TEST_A"), clientSecret: key("BOOKS"), webhookSecrets: [key("BOOKS")] },
      }),
    ).toEqual([
      expect.stringMatching(
        /apiKey: expected .*begins with sk_development_ or sk_production_.*; found a key of the tax-compliance API/,
      ),
      expect.stringMatching(/clientSecret: expected .*begins with cs_.*; found an API key of the accounting service/),
      expect.stringMatching(/webhookSecrets: entry 1: expected .*begins with whsec_development_ or whsec_production_/),
    ]);
  });
});
