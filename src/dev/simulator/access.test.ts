import { describe, expect, test } from "vitest";
import type { ScenarioInput } from "./index.ts";
import {
  at,
  call,
  codeOf,
  saleId,
  simulatorUnderTest,
  teaSale,
  type CallOptions,
} from "./test-support/simulator-under-test.ts";

const scenario: ScenarioInput = {
  applications: [
    {
      name: "shop",
      keys: [
        { key: "cmp_sk_test_org" },
        { key: "cmp_sk_live_org" },
        { key: "cmp_sk_test_bound", businessId: "biz_1" },
        { key: "cmp_sk_test_reader", scopes: ["sales:read"] },
        { key: "cmp_sk_test_revoked", revoked: true },
      ],
    },
    { name: "closed", suspended: true, keys: [{ key: "cmp_sk_test_suspended" }] },
  ],
  businesses: [
    { id: "biz_1", name: "One", branches: [{ id: "branch_1", authorityBhfId: "00" }] },
    { id: "biz_2", name: "Two", branches: [{ id: "branch_2", authorityBhfId: "00" }] },
    { id: "biz_live", name: "Live", environment: "production", branches: [{ id: "branch_3", authorityBhfId: "00" }] },
    { id: "biz_other", name: "Other", organisation: "other", branches: [{ id: "branch_4", authorityBhfId: "00" }] },
  ],
  sales: [],
};

describe("a call to the simulator", () => {
  test.each([
    ["no key", { key: null }],
    ["an unknown key", { key: "cmp_sk_test_unknown" }],
    ["a malformed key", { key: "secret" }],
    ["a revoked key", { key: "cmp_sk_test_revoked" }],
    ["a suspended application's key", { key: "cmp_sk_test_suspended" }],
    ["a bearer token that is none", { key: null, headers: { authorization: "Basic cmp_sk_test_org" } }],
  ] satisfies [string, CallOptions][])("with %s is answered 401 in the same words", async (_name, options) => {
    const simulator = await simulatorUnderTest({ scenario });
    const answer = await call(simulator, "GET", "/v1/items", options);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({ error: { code: "invalid_api_key", message: "The API key is missing or not valid" } });
    expect(answer.headers.has("x-ratelimit-limit")).toBe(false);
  });

  test("may carry its key as a bearer token", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    const headers = { authorization: "Bearer cmp_sk_test_org" };
    expect((await call(simulator, "GET", "/v1/items", { key: null, headers })).status).toBe(200);
  });

  test.each([
    [
      "without a business under an organisation-wide key",
      400,
      "invalid_request",
      { key: "cmp_sk_test_org", businessId: null },
    ],
    ["for an unknown business", 404, "not_found", { key: "cmp_sk_test_org", businessId: "biz_none" }],
    ["for another organisation's business", 404, "not_found", { key: "cmp_sk_test_org", businessId: "biz_other" }],
    ["for another business under a bound key", 403, "forbidden", { key: "cmp_sk_test_bound", businessId: "biz_2" }],
    ["with a test key for a production business", 403, "forbidden", { key: "cmp_sk_test_org", businessId: "biz_live" }],
    ["with a live key for a sandbox business", 403, "forbidden", { key: "cmp_sk_live_org", businessId: "biz_1" }],
    ["without the scope", 403, "forbidden", { key: "cmp_sk_test_reader", businessId: "biz_1" }],
  ] satisfies [string, number, string, CallOptions][])("%s is answered %i %s", async (_name, status, code, options) => {
    const simulator = await simulatorUnderTest({ scenario });
    const answer = await call(simulator, "GET", "/v1/items", options);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect(answer.headers.has("x-ratelimit-limit")).toBe(false);
  });

  test("under a bound key omits the business", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    const answer = await call(simulator, "GET", "/v1/items", { key: "cmp_sk_test_bound", businessId: null });
    expect(answer.status).toBe(200);
  });

  test("never sees a document of another business", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    simulator.addItem({ id: "item_tea", businessId: "biz_1", name: "Tea", unitPrice: 350 });
    const options = { key: "cmp_sk_test_org" };
    const id = saleId(await call(simulator, "POST", "/v1/sales", { ...options, body: teaSale("INV-1") }));
    expect((await call(simulator, "GET", `/v1/sales/${id}`, { ...options, businessId: "biz_1" })).status).toBe(200);
    expect((await call(simulator, "GET", `/v1/sales/${id}`, { ...options, businessId: "biz_2" })).status).toBe(404);
  });

  test("learns which businesses its key can act for", async () => {
    const simulator = await simulatorUnderTest({
      scenario,
      dialect: { businesses: { list: "companies", id: "companyId" } },
    });
    const listed = async (key: string): Promise<unknown> =>
      at((await call(simulator, "GET", "/v1/businesses", { key, businessId: null })).body, "data", "companies");
    expect(await listed("cmp_sk_test_org")).toMatchObject([
      { companyId: "biz_1", branches: [{ id: "branch_1", authorityBhfId: "00" }] },
      { companyId: "biz_2" },
    ]);
    expect(await listed("cmp_sk_test_bound")).toMatchObject([{ companyId: "biz_1" }]);
    expect(await listed("cmp_sk_live_org")).toMatchObject([{ companyId: "biz_live" }]);
  });

  test("stops working when its key is revoked or loses a scope", async () => {
    const simulator = await simulatorUnderTest({ scenario });
    simulator.setKey("cmp_sk_test_org", { scopes: ["sales:read"] });
    expect((await call(simulator, "GET", "/v1/items", { key: "cmp_sk_test_org" })).status).toBe(403);
    simulator.setKey("cmp_sk_test_org", null);
    expect((await call(simulator, "GET", "/v1/items", { key: "cmp_sk_test_org" })).status).toBe(401);
    simulator.setKey("cmp_sk_test_org", { application: "shop" });
    expect((await call(simulator, "GET", "/v1/items", { key: "cmp_sk_test_org" })).status).toBe(200);
  });
});

describe("an operation of the simulator", () => {
  const scopes = [
    "sales:read",
    "sales:write",
    "stock:write",
    "catalog:read",
    "catalog:write",
    "purchases:read",
  ] as const;

  test.each([
    ["GET", "/v1/sales/none", "sales:read"],
    ["POST", "/v1/sales", "sales:write"],
    ["POST", "/v1/credit-notes", "sales:write"],
    ["POST", "/v1/sales/none/retry", "sales:write"],
    ["POST", "/v1/stock/adjustments", "stock:write"],
    ["POST", "/v1/items/none/register", "catalog:write"],
    ["GET", "/v1/items", "catalog:read"],
    ["GET", "/v1/purchases", "purchases:read"],
  ] as const)("%s %s needs the scope %s and no other", async (method, path, scope) => {
    const simulator = await simulatorUnderTest();
    simulator.setKey("cmp_sk_test_simulator", { scopes: scopes.filter((other) => other !== scope) });
    expect((await call(simulator, method, path)).status).toBe(403);
    simulator.setKey("cmp_sk_test_simulator", { scopes: [scope] });
    expect((await call(simulator, method, path)).status).not.toBe(403);
  });

  test("that does not exist is 404", async () => {
    const simulator = await simulatorUnderTest();
    const answer = await call(simulator, "DELETE", "/v1/sales/none");
    expect([answer.status, codeOf(answer)]).toEqual([404, "not_found"]);
  });
});

describe("the window of an application", () => {
  test("shows its three numbers on successes and refuses with 429 and Retry-After once it is used up", async () => {
    let nowMs = 60_000 * 1000 + 20_500;
    const simulator = await simulatorUnderTest({ limitPerWindow: 2, nowMs: () => nowMs });
    const quota = ({ headers }: { headers: Headers }): (string | null)[] =>
      ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"].map((name) =>
        headers.get(name),
      );
    expect(quota(await call(simulator, "GET", "/v1/items"))).toEqual(["2", "1", "40", null]);
    const missing = await call(simulator, "GET", "/v1/sales/none");
    expect(quota(missing)).toEqual([null, null, null, null]);
    const refused = await call(simulator, "GET", "/v1/items");
    expect([refused.status, codeOf(refused)]).toEqual([429, "rate_limited"]);
    expect(quota(refused)).toEqual(["2", "0", "40", "40"]);
    nowMs = 60_000 * 1001;
    expect(quota(await call(simulator, "GET", "/v1/items"))).toEqual(["2", "1", "60", null]);
    expect(simulator.books().windows).toEqual([
      { application: "simulator", startMs: 60_000 * 1000, used: 2, refused: 1 },
      { application: "simulator", startMs: 60_000 * 1001, used: 1, refused: 0 },
    ]);
  });

  test("belongs to that application alone", async () => {
    const applications = ["one", "two"].map((name) => ({ name, keys: [{ key: `cmp_sk_test_${name}` }] }));
    const simulator = await simulatorUnderTest({ limitPerWindow: 1, scenario: { applications }, nowMs: () => 0 });
    expect((await call(simulator, "GET", "/v1/items", { key: "cmp_sk_test_one" })).status).toBe(200);
    expect((await call(simulator, "GET", "/v1/items", { key: "cmp_sk_test_one" })).status).toBe(429);
    expect((await call(simulator, "GET", "/v1/items", { key: "cmp_sk_test_two" })).status).toBe(200);
  });
});
