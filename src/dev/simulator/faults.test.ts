import { describe, expect, test } from "vitest";
import { type Fault, Faults } from "./faults.ts";
import { askAccounting } from "./test-support/ask-accounting.ts";
import { at, call, codeOf, saleId, simulatorUnderTest, teaSale } from "./test-support/simulator-under-test.ts";

describe("an injected fault", () => {
  test("before: the connection breaks and nothing was filed", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({ operation: "createSale", when: "before", kind: "drop", times: 1 });
    await expect(call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") })).rejects.toThrow(/fetch failed/);
    expect(simulator.documents()).toEqual([]);
    expect((await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") })).status).toBe(201);
    expect(simulator.calls({ operation: "createSale" })).toMatchObject([
      { status: null, fault: "drop" },
      { status: 201, fault: null },
    ]);
    expect(simulator.books().faults).toMatchObject({ byKind: { drop: 1 }, active: [] });
  });

  test("after: the sale was filed and its answer is lost", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({ operation: "createSale", when: "after", kind: "drop", match: { invoice: "INV-1" } });
    await expect(call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") })).rejects.toThrow(/fetch failed/);
    expect((await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-2") })).status).toBe(201);
    expect(simulator.documents("INV-1")).toMatchObject([
      { status: "completed", calls: [{ operation: "createSale", fault: "drop" }] },
    ]);
  });

  test("of one application strikes whatever its keys call, and no other's", async () => {
    const applications = ["one", "other"].map((name) => ({ name, keys: [{ key: `cmp_sk_test_${name}` }] }));
    const simulator = await simulatorUnderTest({ scenario: { applications } });
    const match = { application: "one" };
    simulator.inject({ operation: "*", when: "before", kind: "status", status: 500, match });
    const statusOf = async (path: string, key: string) => (await call(simulator, "GET", path, { key })).status;
    for (const path of ["/v1/items", "/v1/sales/unknown"]) expect(await statusOf(path, "cmp_sk_test_one")).toBe(500);
    expect(await statusOf("/v1/items", "cmp_sk_test_other")).toBe(200);
  });

  test("half-body: the answer breaks off in its middle", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({ operation: "listItems", when: "after", kind: "half-body" });
    await expect(call(simulator, "GET", "/v1/items")).rejects.toThrow(/terminated/);
  });

  test("not-json, wrong-types and status replace the answer", async () => {
    const simulator = await simulatorUnderTest();
    const remove = simulator.inject({ operation: "*", when: "after", kind: "not-json" });
    const page = await call(simulator, "GET", "/v1/items");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    remove();
    const removeTypes = simulator.inject({ operation: "*", when: "after", kind: "wrong-types" });
    expect(
      typeof at((await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") })).body, "data", "sale", "id"),
    ).toBe("number");
    removeTypes();
    simulator.inject({ operation: "*", when: "before", kind: "status", status: 502, times: 1 });
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(502);
    expect((await call(simulator, "GET", "/v1/items")).status).toBe(200);
  });

  test("rate-limit: refuses with the headers of a real refusal", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({ operation: "listItems", when: "before", kind: "rate-limit", retryAfterSeconds: 7 });
    const refused = await call(simulator, "GET", "/v1/items");
    expect([refused.status, codeOf(refused), refused.headers.get("retry-after")]).toEqual([429, "rate_limited", "7"]);
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
  });

  test("slow: a caller that gives up has still filed its sale", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({ operation: "createSale", when: "after", kind: "slow", delayMs: 60_000 });
    const giveUp = new AbortController();
    const answer = fetch(`${simulator.url}/v1/sales?businessId=biz_1`, {
      method: "POST",
      headers: { "x-api-key": "cmp_sk_test_simulator" },
      body: JSON.stringify(teaSale("INV-1")),
      signal: giveUp.signal,
    });
    await simulator.until(() => simulator.documents("INV-1").length === 1);
    giveUp.abort();
    await expect(answer).rejects.toThrow(/aborted/);
    expect(simulator.documents("INV-1")).toMatchObject([{ status: "completed" }]);
  });

  test("with skip and times hits the calls in between", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({ operation: "listItems", when: "before", kind: "status", skip: 1, times: 2 });
    const statuses: number[] = [];
    for (const _call of [1, 2, 3, 4]) statuses.push((await call(simulator, "GET", "/v1/items")).status);
    expect(statuses).toEqual([200, 503, 503, 200]);
  });

  test("with a probability hits the same calls for the same seed", () => {
    const strikes = (seed: number): boolean[] => {
      const faults = new Faults(seed);
      faults.inject({ operation: "*", when: "before", kind: "drop", probability: 0.3 }, []);
      return Array.from({ length: 200 }, () => faults.strike("compliance", "listItems", "before", {}) !== undefined);
    };
    expect(strikes(7)).toEqual(strikes(7));
    expect(strikes(7)).not.toEqual(strikes(8));
    const count = strikes(7).filter(Boolean).length;
    expect(count).toBeGreaterThan(40);
    expect(count).toBeLessThan(80);
  });

  test("of callbacks or of the authority leaves the chance of the API's calls as it was", () => {
    const strikes = (disturb: boolean): boolean[] => {
      const faults = new Faults(7);
      faults.inject({ operation: "*", when: "before", kind: "drop", probability: 0.3 }, []);
      faults.inject({ operation: "callback", when: "before", kind: "lost", probability: 0.5 }, []);
      faults.inject({ operation: "authority", when: "before", kind: "cancelled", probability: 0.5 }, []);
      return Array.from({ length: 100 }, () => {
        if (disturb) faults.strikeCallback(["lost"], {});
        if (disturb) faults.strikeAuthority({});
        return faults.strike("compliance", "readSale", "before", {}) !== undefined;
      });
    };
    expect(strikes(true)).toEqual(strikes(false));
  });

  test("of the authority leaves a document in flight for ever, or cancels it", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({
      operation: "authority",
      when: "before",
      kind: "in-flight",
      match: { invoice: "INV-1" },
      times: 1,
    });
    simulator.inject({ operation: "authority", when: "before", kind: "cancelled", match: { invoice: "INV-2" } });
    const first = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-1") });
    expect([first.status, simulator.documents("INV-1")[0]?.status]).toEqual([202, "pending"]);
    const second = await call(simulator, "POST", "/v1/sales", { body: teaSale("INV-2") });
    expect([second.status, (await simulator.settled(saleId(second))).status]).toEqual([202, "cancelled"]);
    expect((await call(simulator, "POST", `/v1/sales/${saleId(first)}/retry`)).status).toBe(200);
    expect(simulator.documents("INV-1")[0]?.status).toBe("completed");
    expect(simulator.books().faults.byKind).toEqual({ "in-flight": 1, cancelled: 1 });
  });

  /**
   * What a run over many sales mixes by chance: each has a kind, and chance takes some calls of 40 and leaves others.
   */
  test.each<[string, Omit<Fault, "operation">]>([
    ["dropped before processing", { when: "before", kind: "drop" }],
    ["processed and dropped", { when: "after", kind: "drop" }],
    ["a 5xx before processing", { when: "before", kind: "status", status: 503 }],
    ["a 5xx after processing", { when: "after", kind: "status", status: 500 }],
    ["slow beyond the timeout", { when: "after", kind: "slow", delayMs: 60_000 }],
    ["half a body", { when: "after", kind: "half-body" }],
    ["not JSON", { when: "after", kind: "not-json" }],
    ["wrong types", { when: "after", kind: "wrong-types" }],
    ["a storm of 429", { when: "before", kind: "rate-limit" }],
  ])("can be %s at random", (_name, fault) => {
    const faults = new Faults(5);
    faults.inject({ operation: "*", probability: 0.2, ...fault }, []);
    const struck = Array.from({ length: 40 }, () => faults.strike("compliance", "createSale", fault.when, {})?.kind);
    expect(new Set(struck)).toEqual(new Set([undefined, fault.kind]));
  });

  test("that cannot be understood is refused by name", async () => {
    const simulator = await simulatorUnderTest();
    const wrong = JSON.parse('{ "operation": "*", "when": "later", "kind": "drop" }');
    expect(() => simulator.inject(wrong)).toThrow(/fault\.when/);
  });

  test.each(["createCreditNote", "getSale", "toString"])(
    "of the unknown operation %s is refused",
    async (operation) => {
      const simulator = await simulatorUnderTest();
      expect(() => simulator.inject({ operation, when: "before", kind: "drop" })).toThrow(
        `fault.operation: there is no "${operation}". There are: *, createSale, readSale, `,
      );
      expect(simulator.books().faults.active).toEqual([]);
    },
  );

  test("of all calls strikes those of the Compliance API alone", async () => {
    const simulator = await simulatorUnderTest();
    simulator.inject({ operation: "*", when: "before", kind: "drop" });
    expect((await askAccounting(simulator, "/companies")).status).toBe(200);
    simulator.inject({ operation: "listCompanies", when: "before", kind: "status", status: 500 });
    expect((await askAccounting(simulator, "/companies")).status).toBe(500);
  });
});
