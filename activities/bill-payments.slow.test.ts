import { expect, onTestFinished, test } from "vitest";

import { createAccountingClient, parseAccountingDialect } from "../src/accounting/index.ts";
import type { PageRequest } from "../src/contract/index.ts";
import { simulatorUnderTest } from "../src/dev/simulator/test-support/simulator-under-test.ts";
import { createDispatchers, createTransport } from "../src/http/transport.ts";
import type { Observation } from "../src/ledger/index.ts";
import { createTestLedger } from "../src/ledger/test-support/create-test-ledger.ts";
import { createAccountingActivities } from "./accounting.ts";
import { ServiceHealth } from "./classified-call.ts";
import { ONE_KEY } from "./test-support/behind-breaker.ts";
import { failureOf, inActivity, START_MS } from "./test-support/served.ts";

const HOUR = 3_600_000;
const PAGE = { connection: "default", cursor: "2" };

async function served(names: Record<string, string> = {}) {
  const scenario = { accounting: { generatedBillPayments: 250 } };
  const simulator = await simulatorUnderTest({ scenario });
  // As a service does that knows nothing of the names that it is given.
  simulator.accounting.changeSettings({ refuseUnknownFields: false });
  const dispatchers = createDispatchers();
  const made = await createTestLedger();
  const { ledger } = made;
  onTestFinished(async () => {
    await dispatchers.close();
    await made.drop();
  });
  const dialect = parseAccountingDialect({ billPayments: names });
  const client = createAccountingClient({
    baseUrl: simulator.accounting.url,
    apiKey: { reveal: () => "sk_development_simulator" },
    dialect,
    transport: createTransport(dispatchers),
    timeoutMs: 5_000,
  });
  const alerts: string[] = [];
  const keyWatch = {
    refused: (operation: string, status: number) => void alerts.push(`${operation} ${status}`),
    awaited: (operation: string) => void alerts.push(`${operation} awaited`),
    works: () => undefined,
  };
  const profile = { connection: "default", callTimeoutMs: 5_000, unservedAfterMs: 60_000 };
  const health = new ServiceHealth(Date.now, () => Promise.resolve(undefined), "accounting");
  const accounting = new Map([["default", { profile, client, dialect, key: ONE_KEY, keyWatch, health }]]);
  const observed: Observation[] = [];
  const observer = { note: (observation: Observation) => void observed.push(observation) };
  const activities = createAccountingActivities({ accounting, ledger, observer, nowMs: Date.now, random: () => 0 });
  const keep = (more: PageRequest = {}) => inActivity(() => activities.keepBillPaymentsPage({ ...PAGE, ...more }));
  const held = async () => (await ledger.billPayments.summary("default")).total;
  return { simulator, ledger, activities, keep, held, alerts, observed };
}

test("a page of bill payments is kept in the ledger, and the result has only counts and times", async () => {
  const { keep, held } = await served();
  expect(await keep()).toEqual({
    kind: "page",
    rows: 100,
    added: 100,
    changed: 0,
    known: false,
    total: 250,
    nextCursor: "3",
    fingerprint: expect.any(String),
    askedAtMs: expect.any(Number),
  });
  expect(await held()).toBe(100);
});

test.each([
  ["page", { page: "pageNumber" }, "look at billPayments.page of ACCOUNTING_DIALECT"],
  [
    "sort field",
    { sortBy: "orderBy" },
    "look at billPayments.sortBy and billPayments.sortDirection of ACCOUNTING_DIALECT",
  ],
  [
    "sort direction",
    { sortDirection: "order" },
    "look at billPayments.sortBy and billPayments.sortDirection of ACCOUNTING_DIALECT",
  ],
])(
  "a page of a service that ignores the name of the %s is detected, and nothing is kept",
  async (_what, names, hint) => {
    const { keep, held } = await served(names);
    const result = await keep({ cursor: "page" in names ? "2" : "1" });
    expect(result).toMatchObject({
      kind: "refused",
      attention: "unexpected-answer",
      message: expect.stringContaining(hint),
    });
    expect(await held()).toBe(0);
  },
);

test.each([
  ["a page without rows", "empty", { rows: 0, total: 250 }],
  ["the last one", "last-page", { rows: 50, total: 250 }],
  ["404", "not-found", { rows: 0 }],
] as const)(
  "a page that is no longer there, answered by %s, is the end of the list",
  async (_how, beyondTheEnd, kept) => {
    const { simulator, keep } = await served();
    simulator.accounting.changeSettings({ beyondTheEnd });
    const page = await keep({ cursor: "4" });
    expect(page).toMatchObject({ kind: "page", nextCursor: null, ...kept });
    expect("total" in page).toBe("total" in kept);
  },
);

test("a page that is not found on the way to known ground is no end, and has its pass begin anew", async () => {
  const { simulator, keep, held } = await served();
  simulator.inject({ operation: "listBillPayments", when: "before", kind: "status", status: 404, times: 1 });
  expect(await keep({ knownUntilMs: 1 })).toMatchObject({
    kind: "refused",
    attention: "invalid-request",
    status: 404,
  });
  expect(await held()).toBe(0);
});

test("a first page that is not found parks as not-found, and is not the end of the list", async () => {
  const { simulator, keep } = await served();
  simulator.inject({ operation: "listBillPayments", when: "before", kind: "status", status: 404, times: 1 });
  expect(await keep({ cursor: "1" })).toMatchObject({ kind: "refused", attention: "not-found" });
});

test("a sample of the list of one status returns a few ids, and keeps nothing", async () => {
  const { simulator, activities, held } = await served();
  const synced = simulator.accounting
    .billPayments()
    .filter(({ status }) => status === "synced")
    .toSorted((one, other) => String(other.body.updatedAt).localeCompare(String(one.body.updatedAt)));
  const result = await inActivity(() => activities.sampleBillPayments({ connection: "default", status: "synced" }));
  expect(result).toEqual({ kind: "sample", ids: synced.slice(0, 10).map(({ body }) => body.id) });
  expect(await held()).toBe(0);
});

test("a passing failure is tried again, and a refused key is reported once for each call", async () => {
  const { simulator, keep, alerts, activities } = await served();
  const failing = () => failureOf(() => activities.keepBillPaymentsPage(PAGE));
  simulator.inject({
    operation: "listBillPayments",
    when: "before",
    kind: "rate-limit",
    retryAfterSeconds: 7,
    times: 1,
  });
  expect(await failing()).toMatchObject({ type: "Deferred", benign: true, retryable: true, pauseMs: 7_000 });
  simulator.inject({ operation: "listBillPayments", when: "after", kind: "half-body", times: 1 });
  expect(await failing()).toMatchObject({ type: "Transient", retryable: true });
  simulator.accounting.setApplication("simulator", { active: false });
  expect(await keep()).toMatchObject({ kind: "refused", attention: "credentials", status: 401 });
  expect(alerts).toEqual(["listBillPayments 401"]);
});

test("who waits for a permission looks every half hour, and makes no call before its own try is due", async () => {
  const { simulator, alerts, activities } = await served();
  const refused = { status: 403, operation: "listBillPayments" };
  const wait = { connection: "default", triedAtMs: START_MS, sinceMs: START_MS - 20 * HOUR, refused };
  const looking = (sinceTryMs: number) =>
    failureOf(() => activities.awaitAccounting(wait), { scheduledAtMs: START_MS + sinceTryMs });
  expect(await looking(HOUR)).toMatchObject({ type: "StillWaiting", benign: true, pauseMs: 0.9 * (HOUR / 2) });
  expect(await looking(10 * HOUR - 60_000)).toMatchObject({ type: "StillWaiting", pauseMs: 60_000 });
  expect(alerts).toEqual(["listBillPayments awaited", "listBillPayments awaited"]);
  expect(simulator.accounting.calls()).toEqual([]);
});

test("a page of bill payments is not requested while the ledger is away", async () => {
  const { simulator, ledger, activities } = await served();
  await ledger.close();
  expect(await failureOf(() => activities.keepBillPaymentsPage(PAGE))).toMatchObject({ type: "LedgerAway" });
  expect(simulator.accounting.calls()).toEqual([]);
});

test("a connection that this worker does not serve is left to another one", async () => {
  const { activities } = await served();
  const failed = await failureOf(() => activities.keepBillPaymentsPage({ ...PAGE, connection: "other" }));
  expect(failed).toMatchObject({ type: "NotServed", retryable: true });
});
