import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { TransportError } from "../http/errors.ts";
import { budgetRules, type CallClass, callingAs } from "./budget.ts";
import { FleetCount } from "./fleet-count.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { countedInMemory } from "./test-support/counted-in-memory.ts";
import { provider, type ProviderOptions } from "./test-support/provider.ts";

const WINDOW_MS = 60_000;
const LIMIT = 120;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:00:07.300Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The same dice for every run. */
function dice(): () => number {
  let seed = 42;
  return () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
}

interface FleetOptions extends Partial<ProviderOptions> {
  processes: number;
  alone?: boolean;
}

/** Processes with an endless backlog, each with eight calls at once. */
function fleet({ processes, alone = false, ...more }: FleetOptions) {
  const random = dice();
  const latencyMs = () => 50 + random() * 150;
  const service = provider({ limit: LIMIT, windowMs: WINDOW_MS, phaseMs: 1_234, latencyMs, ...more });
  const counted = countedInMemory();
  const totals = { sent: 0, refused: 0, heldBack: 0 };
  const waits: { callClass: CallClass; startedAtMs: number; waitedMs: number }[] = [];
  const limiters = Array.from({ length: processes }, () => {
    const application = "shop";
    const nowMs = Date.now;
    const silent = { onAway: () => {}, onBack: () => {} };
    const count = alone ? undefined : new FleetCount({ application, counts: counted.counts, nowMs, ...silent });
    const watch = {
      sent: () => void (totals.sent += 1),
      refused: () => void (totals.refused += 1),
      heldBack: () => void (totals.heldBack += 1),
    };
    const rules = budgetRules(LIMIT);
    return new RateLimiter({ application, transport: service.transport, rules, count, nowMs, random, watch });
  });
  let over = false;
  const request = {
    method: "GET",
    url: new URL("http://x"),
    headers: {},
    timeoutMs: 1,
    maxBodyBytes: 1,
  } as const;
  async function call(limiter: RateLimiter, callClass: CallClass): Promise<void> {
    const startedAtMs = Date.now();
    while (!over) {
      try {
        await callingAs(callClass, () => limiter.send(request));
        waits.push({ callClass, startedAtMs, waitedMs: Date.now() - startedAtMs });
        return;
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? 1_000));
        await opened(limiter, callClass);
      }
    }
  }
  /** In the queue: a poll is opened only while the limiter is. */
  async function opened(limiter: RateLimiter, callClass: CallClass): Promise<void> {
    while (!over && !limiter.isOpen(callClass))
      await new Promise<void>((resolve) => void limiter.whenOpen(callClass, resolve));
  }
  async function work(limiter: RateLimiter, callClass: CallClass): Promise<void> {
    while (!over) {
      await opened(limiter, callClass);
      await call(limiter, callClass);
    }
  }
  const backlog = (callClass: CallClass): void => {
    for (const limiter of limiters) for (let i = 0; i < 8; i += 1) void work(limiter, callClass);
  };
  /** Of the windows that were seen from beginning to end. */
  const usedParts = (): number[] => [...service.windows.values()].slice(1, -1).map(({ used }) => used / LIMIT);
  const end = (): void => void (over = true);
  return { service, counted, totals, waits, limiters, call, backlog, usedParts, end, random };
}

const mean = (numbers: number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const MINUTES = 20;

test.each([1, 3, 8])("%i processes with a shared count use whole windows, and are not refused", async (processes) => {
  const { totals, usedParts, backlog, end } = fleet({ processes });
  backlog("interactive");
  await vi.advanceTimersByTimeAsync(MINUTES * WINDOW_MS);
  end();
  expect(usedParts().length).toBeGreaterThanOrEqual(MINUTES - 2);
  expect(Math.min(...usedParts())).toBeGreaterThanOrEqual(0.97);
  expect(mean(usedParts())).toBeGreaterThanOrEqual(0.99);
  expect(totals.refused / totals.sent).toBeLessThanOrEqual(0.005);
});

test.each([1, 3, 8])(
  "%i processes with quota headers alone use most of each window, and are seldom refused",
  async (processes) => {
    const { totals, usedParts, backlog, end } = fleet({ processes, alone: true });
    backlog("interactive");
    await vi.advanceTimersByTimeAsync(MINUTES * WINDOW_MS);
    end();
    expect(mean(usedParts())).toBeGreaterThanOrEqual(0.9);
    expect(totals.refused / totals.sent).toBeLessThanOrEqual(0.05);
  },
);

test("beside another program that takes a fifth at random moments, the fleet uses the rest", async () => {
  const { totals, usedParts, backlog, end, service, random } = fleet({ processes: 3 });
  backlog("interactive");
  let over = false;
  const stranger = (): void => {
    service.admit();
    if (!over) setTimeout(stranger, random() * 2 * (WINDOW_MS / (LIMIT / 5)));
  };
  stranger();
  await vi.advanceTimersByTimeAsync(MINUTES * WINDOW_MS);
  over = true;
  end();
  expect(mean(usedParts())).toBeGreaterThanOrEqual(0.98);
  expect(totals.refused / totals.sent).toBeLessThanOrEqual(0.02);
});

test("while the shared count is unavailable no call is lost, and once it is back windows are used in full again", async () => {
  const { totals, usedParts, backlog, end, counted } = fleet({ processes: 3 });
  backlog("interactive");
  await vi.advanceTimersByTimeAsync(5.5 * WINDOW_MS);
  counted.state.away = true;
  await vi.advanceTimersByTimeAsync(5 * WINDOW_MS);
  const refusedAway = totals.refused;
  const sentAway = totals.sent;
  counted.state.away = false;
  await vi.advanceTimersByTimeAsync(6 * WINDOW_MS);
  end();
  expect(refusedAway / sentAway).toBeLessThanOrEqual(0.05);
  expect(mean(usedParts().slice(-4))).toBeGreaterThanOrEqual(0.99);
  expect((totals.refused - refusedAway) / (totals.sent - sentAway)).toBeLessThanOrEqual(0.01);
});

test("an interactive call goes at once whenever it comes, while background work uses what is left", async () => {
  const { totals, usedParts, backlog, end, call, limiters, random, waits } = fleet({ processes: 3 });
  backlog("background");
  let over = false;
  const sales = (): void => {
    const limiter = limiters[Math.floor(random() * 3)];
    if (limiter) void call(limiter, "interactive");
    if (!over) setTimeout(sales, random() * 2 * (WINDOW_MS / (LIMIT / 5)));
  };
  sales();
  await vi.advanceTimersByTimeAsync(MINUTES * WINDOW_MS);
  over = true;
  end();
  const waited = waits
    .filter(({ callClass }) => callClass === "interactive")
    .map(({ waitedMs }) => waitedMs - 200)
    .toSorted((one, other) => one - other);
  const at = (part: number): number => waited[Math.floor(part * waited.length)] ?? Infinity;
  expect(at(0.5)).toBeLessThanOrEqual(0.02 * WINDOW_MS);
  expect(at(0.95)).toBeLessThanOrEqual(0.1 * WINDOW_MS);
  expect(mean(usedParts())).toBeGreaterThanOrEqual(0.97);
  expect(totals.refused / totals.sent).toBeLessThanOrEqual(0.005);
});

test("a provider that rounds its resets down is detected", async () => {
  const { totals, usedParts, backlog, end } = fleet({ processes: 3, rounds: "down" });
  backlog("interactive");
  await vi.advanceTimersByTimeAsync(4 * WINDOW_MS);
  const refusedAtFirst = totals.refused;
  await vi.advanceTimersByTimeAsync(MINUTES * WINDOW_MS);
  end();
  expect(mean(usedParts())).toBeGreaterThanOrEqual(0.98);
  expect(totals.refused).toBe(refusedAtFirst);
  expect(totals.refused / totals.sent).toBeLessThanOrEqual(0.02);
});

test("a window length other than configured is learned from the headers", async () => {
  const windowMs = 20_000;
  const { totals, usedParts, backlog, end } = fleet({ processes: 3, windowMs });
  backlog("interactive");
  await vi.advanceTimersByTimeAsync(MINUTES * windowMs);
  end();
  expect(mean(usedParts())).toBeGreaterThanOrEqual(0.97);
  expect(totals.refused / totals.sent).toBeLessThanOrEqual(0.01);
});

test.each([1, 2, 3, 8])(
  "after an idle spell %i processes use a window that begins with their first request, and are not refused",
  async (processes) => {
    const { service, backlog, end, call, limiters } = fleet({ processes, beginsWithRequest: true });
    for (const limiter of limiters) void call(limiter, "interactive");
    await vi.advanceTimersByTimeAsync(3.4 * WINDOW_MS);
    backlog("interactive");
    await vi.advanceTimersByTimeAsync(0.9 * WINDOW_MS);
    end();
    const last = [...service.windows.values()].at(-1);
    expect(last?.used).toBeGreaterThanOrEqual(0.99 * LIMIT);
    expect(last?.refused).toBe(0);
  },
);

test("a 429 whose reset is a day away stops neither its process nor another one for longer than ten minutes", async () => {
  const { service, limiters, call, waits } = fleet({ processes: 2 });
  const callEach = limiters.map((limiter) => () => void call(limiter, "interactive"));
  for (let i = 1; i < LIMIT; i += 1) service.admit();
  Object.assign(service.answers, { status: 429, resetSeconds: 86_400 });
  callEach[0]?.();
  await vi.advanceTimersByTimeAsync(1_000);
  Object.assign(service.answers, { status: 200, resetSeconds: undefined });
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  for (const callAgain of callEach) callAgain();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(waits).toHaveLength(3);
});

test("without quota headers the fleet keeps to the configured limit", async () => {
  const { totals, service, backlog, end } = fleet({ processes: 3, headers: false, phaseMs: 0 });
  backlog("interactive");
  await vi.advanceTimersByTimeAsync(10 * WINDOW_MS);
  end();
  expect(totals.refused / totals.sent).toBeLessThanOrEqual(0.01);
  expect([...service.windows.values()].at(-2)?.used).toBe(LIMIT);
});
