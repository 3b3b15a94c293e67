import fc from "fast-check";
import { expect, test } from "vitest";

import {
  type Budget,
  budgetAt,
  budgetRules,
  type CallClass,
  failsEveryCall,
  newBudget,
  spentOf,
  underWay,
} from "./budget.ts";
import { afterEvent, type Answer, type BudgetEvent, decide, type Decision, type Sending } from "./decide.ts";

const START_MS = Date.parse("2026-11-21T09:00:00Z");
const RULES = budgetRules(120);
const SALE: Sending = { callClass: "interactive", probe: false };

const answered = (answer: Partial<Answer> & { sentAtMs: number }): BudgetEvent => ({
  kind: "answered",
  call: SALE,
  answer: { status: 200, answeredAtMs: answer.sentAtMs + 100, ...answer },
});
const rateLimit = (remaining: number, resetSeconds: number, limit = 120) => ({ limit, remaining, resetSeconds });

/** Sends a call and takes its answer 100 ms later. */
function call(budget: Budget, sentAtMs: number, answer: Partial<Answer>): Budget {
  const sent = afterEvent(budget, { kind: "sent", call: SALE }, sentAtMs);
  return afterEvent(sent, answered({ sentAtMs, ...answer }), answer.answeredAtMs ?? sentAtMs + 100);
}
const decided = (budget: Budget, atMs: number, callClass: CallClass = "interactive") =>
  decide(budget, { callClass }, atMs);

function waitOf(decision: Decision): number {
  if (decision.kind === "wait" && decision.untilMs !== undefined) return decision.untilMs;
  throw new Error(`expected a wait until some instant, got ${JSON.stringify(decision)}`);
}

test("requests of another program on the application count as spent", () => {
  const budget = call(newBudget(RULES, START_MS), START_MS, { rateLimit: rateLimit(0, 30) });
  expect(decided(budget, START_MS + 200)).toEqual({ kind: "wait", why: "spent", untilMs: START_MS + 30_100 });
  expect(decided(budget, START_MS + 30_100)).toEqual({ kind: "send", probe: false });
});

test("a late answer from the previous window takes nothing from the current one", () => {
  const before = call(newBudget(RULES, START_MS), START_MS, { rateLimit: rateLimit(100, 10) });
  const sent = afterEvent(before, { kind: "sent", call: SALE }, START_MS + 9_000);
  const atMs = START_MS + 13_000;
  const late = answered({ sentAtMs: START_MS + 9_000, answeredAtMs: atMs, rateLimit: rateLimit(0, 1) });
  const budget = budgetAt(afterEvent(sent, late, atMs), atMs);
  expect(spentOf(budget)).toBe(0);
  expect(budget.window.endsAtMs).toBe(START_MS + 70_100);
});

test("an answer from the next window, early by this clock, opens that window", () => {
  const before = call(newBudget(RULES, START_MS), START_MS, { rateLimit: rateLimit(0, 20) });
  const budget = call(before, START_MS + 15_000, { rateLimit: rateLimit(119, 60) });
  expect(decided(budget, START_MS + 15_200).kind).toBe("send");
  expect(budget.window).toMatchObject({ endsAtMs: START_MS + 75_100, lengthMs: 60_000 });
});

test("a wrong clock does not change the budget, which uses only times from now", () => {
  const offMs = 3_600_000;
  const budget = call(newBudget(RULES, START_MS + offMs), START_MS + offMs, { rateLimit: rateLimit(0, 7) });
  expect(decided(budget, START_MS + offMs + 200)).toMatchObject({ untilMs: START_MS + offMs + 7_100 });
});

test("a clock that is set back by an hour does not close the budget for that hour", () => {
  const closed = call(newBudget(RULES, START_MS), START_MS, { status: 429, retryAfterSeconds: 60 });
  expect(decided(closed, START_MS + 1_000)).toMatchObject({ kind: "wait", why: "closed" });
  expect(decided(closed, START_MS - 3_600_000).kind).toBe("send");
});

test("a limit that changes counts from the next answer on", () => {
  const before = call(newBudget(RULES, START_MS), START_MS, { rateLimit: rateLimit(100, 30) });
  const less = call(before, START_MS + 1_000, { rateLimit: rateLimit(9, 29, 30) });
  expect([less.limit, spentOf(less)]).toEqual([30, 21]);
});

test("calls that are answered without quota headers count as spent, until a later answer says otherwise", () => {
  let budget = call(newBudget(RULES, START_MS), START_MS, { rateLimit: rateLimit(110, 30) });
  for (let i = 1; i <= 3; i += 1) budget = call(budget, START_MS + i * 1_000, { status: 404 });
  expect(spentOf(budget)).toBe(13);
  budget = call(budget, START_MS + 5_000, { rateLimit: rateLimit(109, 25) });
  expect(spentOf(budget)).toBe(11);
});

test("a 429 closes the budget until its Retry-After, and an absurd one does not for a day", () => {
  const closed = (retryAfterSeconds: number | undefined) =>
    decided(call(newBudget(RULES, START_MS), START_MS, { status: 429, retryAfterSeconds }), START_MS + 200);
  expect(closed(17)).toEqual({ kind: "wait", why: "closed", untilMs: START_MS + 17_100 });
  expect(closed(undefined)).toMatchObject({ untilMs: START_MS + 60_100 });
  expect(closed(86_400)).toMatchObject({ untilMs: START_MS + 600_100 });
});

test("a reset that is further away than a budget closes at most says nothing of the window", () => {
  const absurd = { status: 429, rateLimit: rateLimit(0, 86_400) };
  for (const answer of [absurd, { ...absurd, retryAfterSeconds: 86_400 }]) {
    const budget = call(newBudget(RULES, START_MS), START_MS, answer);
    expect(decided(budget, START_MS + 200)).toMatchObject({ why: "closed", untilMs: START_MS + 600_100 });
    expect(decided(budget, START_MS + 600_100).kind).toBe("send");
  }
});

test("a 429 that may be tried again before its window ends takes nothing from the window", () => {
  const limited = { status: 429, retryAfterSeconds: 0, rateLimit: rateLimit(0, 45) };
  const budget = call(newBudget(RULES, START_MS), START_MS, limited);
  expect(decided(budget, START_MS + 200)).toMatchObject({ why: "closed", untilMs: START_MS + 1_100 });
  expect(decided(budget, START_MS + 1_200).kind).toBe("send");
});

test("a failing service is probed by one call at a time, after growing pauses, and calls pass again once it answers", () => {
  let [budget, atMs] = [newBudget(RULES, START_MS), START_MS];
  for (let i = 0; i < 5; i += 1) budget = call(budget, atMs, { status: 503 });
  const pausesMs: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    const failedAtMs = atMs + 100;
    atMs = waitOf(decided(budget, failedAtMs));
    pausesMs.push(atMs - failedAtMs);
    expect(decide(budget, { callClass: "interactive", unrepeatable: true }, atMs).kind).toBe("wait");
    const probe = { callClass: "interactive", probe: true } as const;
    expect(decided(budget, atMs)).toEqual({ kind: "send", probe: true });
    budget = afterEvent(budget, { kind: "sent", call: probe }, atMs);
    expect(decided(budget, atMs + 50)).toEqual({ kind: "wait", why: "probing" });
    const lost = { kind: "lost", call: probe, failed: true, arrived: false } as const;
    budget = afterEvent(budget, lost, atMs + 100);
  }
  expect(pausesMs).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  budget = call(budget, atMs + 60_200, { status: 404 });
  expect(decided(budget, atMs + 60_400)).toEqual({ kind: "send", probe: false });
});

test("background calls leave a reserve that shrinks to nothing as the window ends", () => {
  const budget = call(newBudget(RULES, START_MS), START_MS, { rateLimit: rateLimit(20, 50) });
  expect(decided(budget, START_MS + 1_000).kind).toBe("send");
  const untilMs = waitOf(decided(budget, START_MS + 1_000, "background"));
  expect(untilMs).toBeGreaterThan(START_MS + 5_000);
  expect(decided(budget, untilMs, "background").kind).toBe("send");
  const counted = call(newBudget(RULES, START_MS), START_MS + 49_000, { rateLimit: rateLimit(1, 1) });
  const last = { ...counted, fleetSpent: 119 };
  expect(decided(last, START_MS + 49_200, "background").kind).toBe("send");
});

/** What any service, any network and any clock may do. */
const anyRateLimit = fc.option(
  fc.record({
    limit: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constant(1_000_000_000)),
    remaining: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constant(1_000_000_000)),
    resetSeconds: fc.oneof(fc.integer({ min: 0, max: 61 }), fc.integer({ min: 0, max: 86_400 })),
  }),
  { nil: undefined },
);
const COUNTED = {
  number: 1,
  endsInMs: 30_000,
  lengthMs: 60_000,
  fromHeaders: true,
  limit: 120,
  inFlight: 0,
  strangers: false,
};

const anyStep = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: -120_000, max: 7_200_000 })),
  does: fc.constantFrom("send", "answer", "lose", "count", "count-away", "narrow"),
  callClass: fc.constantFrom<CallClass>("interactive", "background"),
  status: fc.constantFrom(200, 202, 404, 429, 500, 503),
  rateLimit: anyRateLimit,
  retryAfterSeconds: fc.option(fc.integer({ min: 0, max: 86_400 }), { nil: undefined }),
  spent: fc.integer({ min: 0, max: 300 }),
  which: fc.nat(),
});

type Step = typeof anyStep extends fc.Arbitrary<infer One> ? One : never;

interface Played {
  budget: Budget;
  nowMs: number;
  /** What must never be. */
  broken: string[];
}

function play(steps: readonly Step[]): Played {
  let [budget, nowMs] = [newBudget(RULES, START_MS), START_MS];
  const broken: string[] = [];
  const out: { call: Sending; sentAtMs: number }[] = [];
  const apply = (event: BudgetEvent): void => void (budget = afterEvent(budget, event, nowMs));

  function send({ callClass }: Step): void {
    const decision = decide(budget, { callClass }, nowMs);
    if (decision.kind === "wait") {
      if (decision.untilMs === undefined && underWay(budget) === 0) broken.push("it waits for nothing");
      if (decision.untilMs !== undefined && decision.untilMs <= nowMs) broken.push("it waits for what has passed");
      return;
    }
    const current = budgetAt(budget, nowMs);
    if (spentOf(current) >= current.limit) broken.push("it sends although nothing is left");
    const call = { callClass, probe: decision.probe };
    out.push({ call, sentAtMs: nowMs });
    apply({ kind: "sent", call });
  }

  function end({ does, which, spent, ...answer }: Step): void {
    const [sent] = out.splice(which % Math.max(1, out.length), 1);
    if (!sent) return;
    const { call, sentAtMs } = sent;
    if (does === "answer") apply({ kind: "answered", call, answer: { ...answer, sentAtMs, answeredAtMs: nowMs } });
    else apply({ kind: "lost", call, failed: true, arrived: spent > 150 });
  }

  for (const step of steps) {
    nowMs += step.afterMs;
    if (step.does === "send") send(step);
    else if (step.does === "count") apply({ kind: "counted", window: { ...COUNTED, spent: step.spent } });
    else if (step.does === "count-away") apply({ kind: "count-away" });
    else if (step.does === "narrow") apply({ kind: "narrowed", againAtMs: nowMs + 100 });
    else end(step);
    if (underWay(budget) !== out.length) broken.push("it miscounts what is under way");
    if (budgetAt(budget, nowMs).window.endsAtMs <= nowMs) broken.push("it is in a window that has ended");
  }
  for (const { call } of out) apply({ kind: "lost", call, failed: false, arrived: true });
  return { budget, nowMs, broken };
}

test("after random events in random order no more is sent than the budget has left, and in the end calls pass again", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const { budget, nowMs, broken } = play(steps);
      expect(broken).toEqual([]);
      // However absurd the reset was; the clock may have been set back by two windows.
      const laterMs = nowMs + 4 * RULES.longestClosedMs;
      expect(decided(budget, laterMs)).toMatchObject({ kind: "send" });
      const ended = budgetAt(budget, laterMs).window.endsAtMs - 1;
      expect(decided(budget, ended, "background")).toMatchObject({ kind: "send" });
    }),
    { numRuns: 500 },
  );
});

test("an API fails every call until one is answered, or until nobody has asked for minutes", () => {
  let budget = newBudget(RULES, START_MS);
  for (let calls = 0; calls < 5; calls++) budget = call(budget, START_MS, { status: 503 });
  const fails = (ofBudget: Budget, afterMs: number) => failsEveryCall(ofBudget.trouble, START_MS + afterMs);
  expect(fails(budget, 5 * 60_000)).toBe(true);
  expect(fails(budget, 15 * 60_000)).toBe(false);
  expect(fails(call(budget, START_MS + 5_000, {}), 6_000)).toBe(false);
});
