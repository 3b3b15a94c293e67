import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { createComplianceClient } from "../../compliance/index.ts";
import { type ComplianceConnection, loadConfig } from "../../config/index.ts";
import { type Simulator, startSimulator } from "../../dev/simulator/index.ts";
import { createDispatchers, createTransport, type OwnedDispatchers } from "../../http/transport.ts";
import { checkConnection, checkOverlaps } from "./check-services.ts";

const KEY = "cmp_sk_test_simulator";

type CheckedConnection = Awaited<ReturnType<typeof checkConnection>>;

describe("a connection's key", () => {
  let simulator: Simulator;
  let dispatchers: OwnedDispatchers;
  beforeAll(async () => {
    simulator = await startSimulator({ limitPerWindow: 1_000 });
    dispatchers = createDispatchers();
  });
  afterAll(async () => {
    await dispatchers.close();
    await simulator.close();
  });
  beforeEach(() => {
    simulator.clearFaults();
    simulator.resetCalls();
    simulator.setKey(KEY, { revoked: false, businessId: null });
    simulator.setApplication("simulator", { limitPerWindow: 1_000 });
  });

  function configured(env: Record<string, string> = {}): ComplianceConnection {
    const settings = { COMPLIANCE_BASE_URL: simulator.url, COMPLIANCE_API_KEY: KEY, COMPLIANCE_BUSINESS_ID: "biz_1" };
    const [connection] = loadConfig({ env: { ...settings, ...env } }).compliance;
    if (!connection) throw new Error("the settings describe a connection");
    return connection;
  }

  function check(connection: ComplianceConnection): Promise<CheckedConnection> {
    const { baseUrl, apiKey, keyReach, dialect } = connection;
    const transport = createTransport(dispatchers);
    return checkConnection(
      connection,
      createComplianceClient({ baseUrl, apiKey, keyReach, dialect, transport, timeoutMs: 5_000 }),
    );
  }

  const faultsOf = ({ findings }: CheckedConnection) =>
    findings.filter(({ level }) => level === "fault").map(({ check: name, message }) => `${name}: ${message}`);

  test("is told of a seller whose business it does not reach", async () => {
    const seller = { name: "Duka Moja Ltd" };
    const sellersOf = async (sellers: object) => {
      const { findings } = await check(configured({ COMPLIANCE_SELLERS: JSON.stringify(sellers) }));
      return findings.filter(({ check: name }) => name === "connection default, sellers");
    };
    expect(await sellersOf({ biz_1: seller })).toEqual([]);
    expect(await sellersOf({ biz_1: seller, biz_demo: seller })).toMatchObject([
      { level: "warning", message: "the setting sellers names biz_demo, for which this connection does not work" },
    ]);
  });

  test("is shown with the request window of its application, from a call that is made anyway", async () => {
    simulator.setApplication("simulator", { limitPerWindow: 1_000 });
    const { findings } = await check(configured());
    const window = findings.find(({ check: name }) => name === "connection default, request budget");
    expect(window?.level).toBe("ok");
    expect(window?.message).toMatch(/^application default: \d+ of 1000 requests left, the window ends in \d+ s$/);
  });

  test("is shown with how soon its service answers, and where that is slow", async () => {
    const found = async () => (await check(configured())).findings[0];
    const service = { check: "connection default, service", level: "ok" };
    expect(await found()).toMatchObject({ ...service, message: expect.stringMatching(/^reachable; it answered in/) });
    const slow = { operation: "listBusinesses", when: "before", kind: "slow", delayMs: 2_600, times: 1 } as const;
    simulator.inject(slow);
    expect(await found()).toMatchObject({
      ...service,
      level: "warning",
      message: expect.stringMatching(/: it is slow$/),
    });
  });

  test("that works has no finding but what is so, after one call that changes nothing", async () => {
    const before = simulator.books();
    const { findings } = await check(configured());
    expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
    expect(simulator.calls().map(({ operation }) => operation)).toEqual(["listBusinesses"]);
    expect(simulator.books().documents).toEqual(before.documents);
  });

  test("that is revoked is a fault of the key, and the service is told to be reachable", async () => {
    simulator.setKey(KEY, { revoked: true });
    const checked = await check(configured());
    expect(faultsOf(checked)).toEqual([expect.stringMatching(/^connection default, key: .*HTTP 401/)]);
    expect(checked.findings[0]).toMatchObject({ check: "connection default, service", level: "ok" });
  });

  test("is shown with the businesses and branches that it reaches", async () => {
    const { findings } = await check(configured());
    expect(findings).toContainEqual({
      check: "connection default, key",
      level: "ok",
      message: "test, organisation-wide, reaches 1 business: biz_1 (branches branch_1 = 00, branch_2 = 01)",
    });
  });

  test("that does not reach the configured business reports the businesses that it reaches", async () => {
    const { findings } = await check(configured({ COMPLIANCE_BUSINESS_ID: "biz_9" }));
    expect(findings).toContainEqual({
      check: "connection default, key",
      level: "fault",
      message: 'does not reach "biz_9"',
      todo: "set COMPLIANCE_BUSINESS_ID to one of: biz_1",
    });
  });

  test("is compared with each configured business, and the other businesses that it reaches are named", async () => {
    const businesses = ["biz_1", "biz_2", "biz_3"].map((id) => ({
      id,
      name: id,
      branches: [{ id: `${id}_branch`, authorityBhfId: "00" }],
    }));
    const own = await startSimulator({ scenario: { businesses } });
    const about = async (env: Record<string, string>) => {
      const { findings } = await check(configured({ COMPLIANCE_BASE_URL: own.url, ...env }));
      return findings.filter(({ check: name }) => /^connection default, (key|businesses)$/.test(name)).slice(-1);
    };
    try {
      expect(await about({ COMPLIANCE_BUSINESSES: "biz_2,biz_3" })).toEqual([
        {
          check: "connection default, businesses",
          level: "ok",
          message: "served: biz_1 (default), biz_2, biz_3",
        },
      ]);
      expect(await about({ COMPLIANCE_BUSINESSES: "biz_2" })).toMatchObject([
        { level: "ok", message: "served: biz_1 (default), biz_2; refused: biz_3" },
      ]);
      expect(await about({ COMPLIANCE_BUSINESSES: "*" })).toMatchObject([
        { level: "warning", message: "any is served; with Schedules: biz_1 (default); without: biz_2, biz_3" },
      ]);
      expect(await about({ COMPLIANCE_BUSINESS_ID: "", COMPLIANCE_BUSINESSES: "*" })).toMatchObject([
        { level: "warning", message: "any is served; with Schedules: none; without: biz_1, biz_2, biz_3" },
      ]);
      expect(await about({ COMPLIANCE_BUSINESSES: "biz_2,biz_9" })).toMatchObject([
        { level: "fault", message: 'does not reach "biz_9"', todo: expect.stringMatching(/: biz_1, biz_2, biz_3$/) },
      ]);
    } finally {
      await own.close();
    }
  });

  test("that is organisation-wide, but configured as bound to a business, reports how to configure it", async () => {
    const businesses = ["biz_1", "biz_2"].map((id) => ({
      id,
      name: id,
      branches: [{ id: `${id}_branch`, authorityBhfId: "00" }],
    }));
    const own = await startSimulator({ scenario: { businesses } });
    const bound = configured({ COMPLIANCE_BASE_URL: own.url, COMPLIANCE_KEY_REACH: "business" });
    const { findings } = await check(bound);
    await own.close();
    expect(findings).toContainEqual(
      expect.objectContaining({ level: "fault", todo: expect.stringContaining("COMPLIANCE_KEY_REACH") }),
    );
  });

  test("whose answer has other names than the dialect reports the command that compares them", async () => {
    const { findings } = await check(configured({ COMPLIANCE_DIALECT: '{"businesses":{"list":"shops"}}' }));
    expect(findings.at(-1)).toMatchObject({ level: "fault", todo: expect.stringContaining("fiscalflow dialect") });
  });

  test("of an unreachable service is a fault", async () => {
    const checked = await check(configured({ COMPLIANCE_BASE_URL: "http://127.0.0.1:9" }));
    expect(checked).toMatchObject({
      findings: [{ level: "fault", todo: expect.stringContaining("COMPLIANCE_BASE_URL") }],
    });
  });

  test.each([
    ["a page", 404, "text/html", "<html>no such page</html>"],
    ["a page for everything", 200, "text/html", "<html>welcome</html>"],
    ["JSON of its own", 404, "application/json", '{"detail":"Not Found"}'],
  ])("at another server, which answers %s, is one fault", async (_what, status, type, body) => {
    const other = createServer((_request, response) => response.writeHead(status, { "content-type": type }).end(body));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = other.address() as AddressInfo;
      const checked = await check(configured({ COMPLIANCE_BASE_URL: `http://127.0.0.1:${port}` }));
      const todo = "something else than the API answers: check COMPLIANCE_BASE_URL";
      expect(checked.findings.filter(({ level }) => level === "fault")).toMatchObject([{ todo }]);
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });

  test("whose requests of the minute are used up is reported as not checkable, which is no fault", async () => {
    simulator.inject({ operation: "listBusinesses", when: "before", kind: "rate-limit", retryAfterSeconds: 7 });
    const checked = await check(configured());
    expect(faultsOf(checked)).toEqual([]);
    expect(checked.findings).toContainEqual(
      expect.objectContaining({
        level: "warning",
        message: expect.stringContaining("(the service asks for a pause of 7 s)"),
      }),
    );
  });

  test("whose API is away is a fault that passes by itself", async () => {
    simulator.inject({ operation: "*", when: "before", kind: "status", status: 503 });
    const { findings } = await check(configured());
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: "fault",
        message: expect.stringContaining("HTTP 503"),
        todo: expect.stringContaining("later"),
      }),
    );
  });

  test("is reported if another connection's key reaches the same business", async () => {
    const connection = configured();
    const businesses = [{ id: "biz_1", branches: [] }];
    const other = { ...connection, name: "other", businessId: "biz_2", servedBusinesses: ["biz_2"] };
    const reaches = [
      { connection, businesses },
      { connection: other, businesses: [...businesses, { id: "biz_2", branches: [] }] },
    ];
    expect(checkOverlaps(reaches)).toMatchObject([
      {
        check: "connections default and other",
        level: "warning",
        message: expect.stringContaining("both keys reach biz_1:"),
      },
    ]);
    const any = { ...other, servedBusinesses: "any" } as const;
    expect(checkOverlaps([...reaches.slice(0, 1), { connection: any, businesses }])).toMatchObject([
      {
        check: "connections default and other",
        level: "fault",
        message: expect.stringContaining("both keys reach biz_1:"),
        todo: expect.stringContaining("in the setting businesses (COMPLIANCE_BUSINESSES) of other by"),
      },
    ]);
    const elsewhere = [{ id: "biz_3", branches: [] }];
    expect(checkOverlaps([...reaches.slice(0, 1), { connection: any, businesses: elsewhere }])).toEqual([]);
    expect(
      checkOverlaps([
        ...reaches.slice(0, 1),
        { connection: { ...other, baseUrl: "https://elsewhere.example" }, businesses },
      ]),
    ).toEqual([]);
  });

  test("is reported once, however many connections' keys reach the same businesses", () => {
    const connection = configured();
    const businesses = ["biz_1", "biz_2"].map((id) => ({ id, branches: [] }));
    const reaches = Array.from({ length: 50 }, (_, n) => ({
      connection: { ...connection, name: `shop-${n + 1}`, servedBusinesses: "any" as const },
      businesses,
    }));
    expect(checkOverlaps(reaches)).toMatchObject([
      {
        check: expect.stringMatching(/^connections shop-1, shop-2, .*shop-10, and 40 more$/),
        message: expect.stringMatching(/^all these keys reach biz_1, biz_2: /),
      },
    ]);
  });
});
