import { beforeEach, describe, expect, onTestFinished, test } from "vitest";

import { createAccountingClient } from "../../accounting/index.ts";
import { type AccountingConnection, loadConfig } from "../../config/index.ts";
import type { Fault, Simulator } from "../../dev/simulator/index.ts";
import { simulatorUnderTest } from "../../dev/simulator/test-support/simulator-under-test.ts";
import { createDispatchers, createTransport } from "../../http/transport.ts";
import { checkAccounting } from "./check-services.ts";

const SIX_MINUTES_MS = 360_000;

const ANSWERED = {
  check: "accounting default, service",
  level: "ok",
  message: expect.stringMatching(/^reachable; it answered in \d+ ms$/),
};

describe("a key of the accounting service", () => {
  let simulator: Simulator;
  let aheadMs: number;
  beforeEach(async () => {
    aheadMs = 0;
    simulator = await simulatorUnderTest({
      nowMs: () => Date.now() + aheadMs,
      scenario: { accounting: { generatedBillPayments: 7 } },
    });
  });

  function configured(env: Record<string, string> = {}): AccountingConnection {
    const settings = {
      ACCOUNTING_BASE_URL: simulator.accounting.url,
      ACCOUNTING_API_KEY: "sk_development_simulator",
      ACCOUNTING_CLIENT_SECRET: "cs_simulator",
    };
    const [connection] = loadConfig({ env: { ...settings, ...env } }).accounting;
    if (!connection) throw new Error("the settings describe a connection");
    return connection;
  }

  async function check(env: Record<string, string> = {}) {
    const dispatchers = createDispatchers();
    onTestFinished(() => dispatchers.close());
    const connection = configured(env);
    const { baseUrl, apiKey, clientSecret } = connection;
    const client = createAccountingClient({
      baseUrl,
      apiKey,
      clientSecret,
      dialect: connection.dialect,
      transport: createTransport(dispatchers),
      timeoutMs: 2_000,
    });
    const findings = await checkAccounting(connection, client);
    expect(JSON.stringify(findings)).not.toMatch(/sk_development_|cs_/);
    return { findings, faults: findings.filter(({ level }) => level === "fault") };
  }

  test("that is accepted is shown with what it reaches, by one call, which is signed", async () => {
    expect((await check()).findings).toEqual([
      ANSWERED,
      { check: "accounting default, key", level: "ok", message: "development, signed, reaches 7 bill payments" },
    ]);
    const calls = simulator.accounting.calls().map(({ operation, signed, query }) => [operation, signed, query]);
    expect(calls).toEqual([["listBillPayments", true, { page: "1", limit: "1" }]]);
  });

  test("is said to be used without a signature where no client secret is configured", async () => {
    const { findings } = await check({ ACCOUNTING_CLIENT_SECRET: "" });
    expect(findings[1]).toMatchObject({ level: "ok", message: "development, not signed, reaches 7 bill payments" });
    expect(simulator.accounting.calls().some(({ signed }) => signed)).toBe(false);
  });

  test.each<[string, Record<string, string>, () => void]>([
    ["the application is not active", {}, () => simulator.accounting.setApplication("simulator", { active: false })],
    ["the client secret is another application's", { ACCOUNTING_CLIENT_SECRET: "cs_other" }, () => undefined],
    ["the signature covers the query", { ACCOUNTING_DIALECT: '{"signature":{"query":true}}' }, () => undefined],
  ])("that is refused since %s is a fault that says what to look at", async (_why, env, prepare) => {
    prepare();
    expect(await check(env)).toMatchObject({
      findings: [
        ANSWERED,
        {
          check: "accounting default, key",
          level: "fault",
          message: expect.stringContaining("HTTP 401"),
          todo: expect.stringMatching(
            /^make a new key in the dashboard.*application is active.*client secret.*signature\.query/,
          ),
        },
      ],
    });
  });

  test.each([
    ["behind", SIX_MINUTES_MS],
    ["ahead of", -SIX_MINUTES_MS],
  ])("whose signature is refused since this clock is %s the service's reports the clock", async (which, offMs) => {
    aheadMs = offMs;
    const { findings } = await check();
    expect(findings).toMatchObject([
      ANSWERED,
      {
        check: "accounting default, clock",
        level: "warning",
        message: expect.stringMatching(new RegExp(`this clock is 3(59|60|61) s ${which} the service's`)),
        todo: "let this host take its time from the network",
      },
      { level: "fault", todo: expect.stringContaining("this clock right") },
    ]);
  });

  test("that is accepted by a service whose clock is two minutes off is warned of it", async () => {
    aheadMs = 120_000;
    const { faults, findings } = await check();
    expect(faults).toEqual([]);
    expect(findings).toContainEqual(expect.objectContaining({ check: "accounting default, clock", level: "warning" }));
  });

  test("that may not list bill payments reports the missing permission and what to do", async () => {
    simulator.accounting.setApplication("simulator", { denied: ["listBillPayments"] });
    const { faults } = await check();
    expect(faults).toEqual([
      {
        check: "accounting default, key",
        level: "fault",
        message: expect.stringContaining("HTTP 403"),
        todo: "authorize the key for it in the dashboard, or use another key",
      },
    ]);
  });

  test("of an unreachable service is a fault", async () => {
    expect(await check({ ACCOUNTING_BASE_URL: "http://127.0.0.1:9" })).toMatchObject({
      findings: [{ level: "fault", todo: expect.stringContaining("ACCOUNTING_BASE_URL") }],
    });
  });

  test("at an address with a path prefix reports that the service's paths have none", async () => {
    const { faults } = await check({ ACCOUNTING_BASE_URL: `${simulator.accounting.url}/v1` });
    expect(faults[0]).toMatchObject({
      message: expect.stringContaining("HTTP 404"),
      todo: expect.stringContaining("no version prefix"),
    });
  });

  test("of a service that answers in another shape reports the address and the dialect", async () => {
    const body = { payments: [] };
    simulator.inject({ operation: "listBillPayments", when: "before", kind: "status", status: 200, body });
    const { faults } = await check();
    expect(faults).toMatchObject([{ todo: "check ACCOUNTING_BASE_URL, and the names in ACCOUNTING_DIALECT" }]);
  });

  test.each<[Pick<Fault, "kind"> & Partial<Fault>, string, string]>([
    [{ kind: "rate-limit", retryAfterSeconds: 7 }, "warning", "(the service asks for a pause of 7 s)"],
    [{ kind: "status", status: 503 }, "fault", "HTTP 503"],
  ])("of a service in trouble (%j) is reported as a %s", async (trouble, level, said) => {
    simulator.inject({ operation: "listBillPayments", when: "before", ...trouble });
    const { faults, findings } = await check();
    expect(faults).toHaveLength(level === "fault" ? 1 : 0);
    expect(findings).toContainEqual(
      expect.objectContaining({
        level,
        message: expect.stringContaining(said),
        todo: expect.stringContaining("later"),
      }),
    );
  });
});
