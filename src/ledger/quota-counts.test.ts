import { afterAll, beforeAll, expect, test } from "vitest";

import { openLedger } from "./open-ledger.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";
import type { BelievedWindow, SpendAnswer } from "./quota-counts.ts";

const WITHIN_MS = 3_000;
const MINUTE: BelievedWindow = { limit: 10, endsInMs: 60_000, lengthMs: 60_000, fromHeaders: true };

let ledger: TestLedger;
let others: TestLedger["ledger"][];
let applications = 0;
beforeAll(async () => {
  ledger = await createTestLedger();
  others = [1, 2].map(() => openLedger({ url: ledger.url, home: "/nowhere" }));
});
afterAll(async () => {
  for (const other of others) await other.close();
  await ledger.drop();
});

const fresh = (): string => `app-${applications++}`;
const spend = (application: string, more: { believed?: BelievedWindow; reserve?: number } = {}) =>
  ledger.ledger.quota.spend({ application, reserve: 0, believed: MINUTE, ...more }, WITHIN_MS);
const settle = (application: string, answer: SpendAnswer, used?: number) => {
  const sequence = answer.granted ? answer.sequence : 0;
  const counted = used === undefined ? undefined : { used, limit: 10 };
  return ledger.ledger.quota.settle({ application, number: answer.window.number, sequence, counted }, WITHIN_MS);
};

test("three processes that ask at once are granted exactly what the window has", async () => {
  const application = fresh();
  const asked = [ledger.ledger, ...others].flatMap(({ quota }) =>
    Array.from({ length: 12 }, () => quota.spend({ application, reserve: 0, believed: MINUTE }, WITHIN_MS)),
  );
  const answers = await Promise.all(asked);
  expect(answers.filter(({ granted }) => granted)).toHaveLength(10);
  expect(answers.find(({ granted }) => !granted)?.window).toMatchObject({ spent: 10, limit: 10 });
});

test("a request with a reserve leaves that reserve to others", async () => {
  const application = fresh();
  const granted = [];
  for (let i = 0; i < 10; i += 1) granted.push((await spend(application, { reserve: 4 })).granted);
  expect(granted.filter(Boolean)).toHaveLength(6);
  expect(await spend(application)).toMatchObject({ granted: true, window: { spent: 7 } });
});

test("a window that has ended is followed by the next in the same phase", async () => {
  const application = fresh();
  const short = { ...MINUTE, limit: 1, endsInMs: 0 };
  const first = await spend(application, { believed: short });
  const second = await spend(application);
  expect(second).toMatchObject({ granted: true, window: { spent: 1 } });
  expect(second.window.number).toBeGreaterThan(first.window.number);
  expect(second.window.endsInMs).toBeGreaterThan(59_000);
  expect(second.window.endsInMs).toBeLessThan(60_100);
});

test("a window that is far away, since the database's clock was set back, has ended", async () => {
  const application = fresh();
  for (let i = 0; i < 10; i += 1) await spend(application);
  expect(await spend(application)).toMatchObject({ granted: false });
  await ledger.outside.query("update quota_windows set ends_at = ends_at + interval '3 hours' where application = $1", [
    application,
  ]);
  const { granted, window } = await spend(application);
  expect([granted, window.spent]).toEqual([true, 1]);
  expect(window.endsInMs).toBeGreaterThan(0);
  expect(window.endsInMs).toBeLessThan(60_100);
});

test("requests that only the provider counted are spent, and other programs are detected", async () => {
  const application = fresh();
  const answer = await spend(application);
  expect(await settle(application, answer, 7)).toMatchObject({ spent: 7, inFlight: 0, strangers: true });
  // Half of what is left may be under way then: of 3 that is one.
  const next = await spend(application);
  expect(next.granted).toBe(true);
  expect((await spend(application)).granted).toBe(false);
  expect(await settle(application, next, 8)).toMatchObject({ spent: 8 });
  expect((await spend(application)).granted).toBe(true);
});

test("a request that the provider did not count is given back by the next answer with headers", async () => {
  const application = fresh();
  const silent = await spend(application);
  expect(await settle(application, silent)).toMatchObject({ spent: 1 });
  const answer = await spend(application);
  expect(await settle(application, answer, 1)).toMatchObject({ spent: 1, strangers: false });
});

test("no request is given back while others are in flight", async () => {
  const application = fresh();
  const one = await spend(application);
  await spend(application);
  expect(await settle(application, one, 1)).toMatchObject({ spent: 2, inFlight: 1 });
});

test("an answer from a window that has gone changes nothing", async () => {
  const application = fresh();
  const late = await spend(application, { believed: { ...MINUTE, endsInMs: 0 } });
  const current = await spend(application);
  expect(await settle(application, late, 9)).toBeUndefined();
  expect(await settle(application, current, 1)).toMatchObject({ spent: 1 });
});

test("an answer corrects the window's end, and one from another window opens that", async () => {
  const application = fresh();
  const { quota } = ledger.ledger;
  const first = await spend(application);
  const { number } = first.window;
  const counted = { used: 1, limit: 10 };
  const edge = { says: "earlier", endsInMs: 20_000, lengthMs: 20_000 } as const;
  const settled = await quota.settle({ application, number, sequence: 1, counted, edge }, WITHIN_MS);
  expect(settled).toMatchObject({ lengthMs: 20_000 });
  expect(settled?.endsInMs).toBeCloseTo(20_000, -2);
  await spend(application);
  await spend(application);
  const next = { says: "next", endsInMs: 40_000, lengthMs: 20_000 } as const;
  const opened = await quota.settle({ application, number, sequence: 2, counted, edge: next }, WITHIN_MS);
  expect(opened).toMatchObject({ number: number + 1, spent: 2 });
});

const NEXT = { says: "next", endsInMs: 60_000, lengthMs: 60_000 } as const;

test("what is under way when an answer opens the next window is spent and settled in that, and is no stranger's", async () => {
  const application = fresh();
  const { quota } = ledger.ledger;
  const [opening, late, unsent] = [await spend(application), await spend(application), await spend(application)];
  const { number } = opening.window;
  const counted = { used: 1, limit: 10 };
  const opened = await quota.settle({ application, number, sequence: 1, counted, edge: NEXT }, WITHIN_MS);
  expect(opened).toMatchObject({ number: number + 1, spent: 3, inFlight: 2, strangers: false });
  expect(await settle(application, await spend(application), 3)).toMatchObject({ spent: 4, strangers: false });
  // Of a process that knows only the window before.
  const again = { application, number, sequence: late.granted ? late.sequence : 0, counted, edge: NEXT };
  expect(await quota.settle(again, WITHIN_MS)).toMatchObject({ number: number + 1, spent: 4, inFlight: 1 });
  const { sequence } = { sequence: 0, ...unsent };
  const back = await quota.settle({ application, number, sequence, unsent: true }, WITHIN_MS);
  expect(back).toMatchObject({ spent: 3, inFlight: 0 });
});

test("an answer that may be older than one from the window before gives nothing back", async () => {
  const application = fresh();
  const [opening, late] = [await spend(application), await spend(application)];
  const { number } = opening.window;
  const counted = { used: 1, limit: 10 };
  await ledger.ledger.quota.settle({ application, number, sequence: 1, counted, edge: NEXT }, WITHIN_MS);
  const before = await spend(application);
  await settle(application, late);
  expect(await settle(application, before, 2)).toMatchObject({ spent: 3, inFlight: 0 });
  expect(await settle(application, await spend(application), 3)).toMatchObject({ spent: 3 });
});
