import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { TransportError } from "../http/errors.ts";
import type { TransportRequest } from "../http/transport.ts";
import { FleetCount } from "./fleet-count.ts";
import { RateLimiter } from "./rate-limiter.ts";
import { budgetRules } from "./budget.ts";
import { countedInMemory } from "./test-support/counted-in-memory.ts";
import { provider, type ProviderOptions } from "./test-support/provider.ts";

const WINDOW_MS = 60_000;
const REQUEST: TransportRequest = {
  method: "GET",
  url: new URL("http://api.test/v1/sales"),
  headers: {},
  timeoutMs: 1_000,
  maxBodyBytes: 1_000,
};

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:00:10.000Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

function limited(options: Partial<ProviderOptions> = {}) {
  const service = provider({ limit: 3, windowMs: WINDOW_MS, latencyMs: () => 50, ...options });
  const counted = countedInMemory();
  const said: string[] = [];
  const count = new FleetCount({
    application: "shop",
    counts: counted.counts,
    nowMs: Date.now,
    onAway: (reason) => void said.push(reason),
    onBack: () => void said.push("back"),
  });
  const watch = {
    sent: () => void said.push("sent"),
    refused: () => void said.push("refused"),
    heldBack: () => void said.push("held back"),
  };
  const rules = budgetRules(3);
  const { transport } = service;
  const limiter = new RateLimiter({
    application: "shop",
    transport,
    rules,
    count,
    nowMs: Date.now,
    random: () => 0,
    watch,
  });
  /** The status, or why none came; and after how many milliseconds. */
  const call = async (more: Partial<TransportRequest> = {}) => {
    const startedAtMs = Date.now();
    const end = await limiter.send({ ...REQUEST, ...more }).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof TransportError ? error : Promise.reject(error)),
    );
    return { end, tookMs: Date.now() - startedAtMs };
  };
  const passing = async <Result>(ms: number, result: Promise<Result>): Promise<Result> => {
    await vi.advanceTimersByTimeAsync(ms);
    return result;
  };
  return { limiter, service, counted, said, call, passing };
}

test("a call on an idle application goes at once", async () => {
  const { call, passing } = limited();
  expect(await passing(100, call())).toEqual({ end: 200, tookMs: 100 });
});

test("a call in a spent window is returned unsent, and waits in its task queue", async () => {
  const { call, passing, said, service } = limited();
  for (let i = 0; i < 3; i += 1) await passing(100, call());
  const { end, tookMs } = await passing(0, call());
  expect(end).toMatchObject({ name: "TransportError", code: "held-back", sent: "no" });
  expect(end).toMatchObject({ retryAfterMs: 250, message: expect.stringMatching(/\(spent\), for 49\d{3} ms/) });
  expect(tookMs).toBe(0);
  expect(said).toEqual(["sent", "sent", "sent", "held back"]);
  expect([...service.windows.values()]).toEqual([{ used: 3, refused: 0 }]);
});

test("a call shortly before the next window waits for that window", async () => {
  const { call, passing } = limited();
  for (let i = 0; i < 3; i += 1) await passing(100, call());
  await vi.advanceTimersByTimeAsync(48_200);
  const { end, tookMs } = await passing(2_500, call());
  expect(end).toBe(200);
  expect(tookMs).toBeGreaterThan(1_000);
  expect(tookMs).toBeLessThan(2_200);
});

test("a waiting call can be aborted", async () => {
  const { call, passing, limiter } = limited();
  for (let i = 0; i < 3; i += 1) await passing(100, call());
  await vi.advanceTimersByTimeAsync(48_200);
  const abort = new AbortController();
  const waiting = call({ signal: abort.signal });
  await vi.advanceTimersByTimeAsync(0);
  expect(limiter.waiting.interactive).toBe(1);
  abort.abort();
  expect(await waiting).toMatchObject({ end: { code: "aborted", sent: "no" } });
  expect(limiter.waiting.interactive).toBe(0);
});

test("a 429 that happens anyway closes the rate limiter for all until its Retry-After", async () => {
  const { call, passing, service, limiter, said } = limited();
  await passing(100, call());
  service.admit();
  service.admit();
  expect(await passing(100, call())).toMatchObject({ end: 429 });
  expect(limiter.isOpen("interactive")).toBe(false);
  expect(await passing(0, call())).toMatchObject({ end: { code: "held-back" } });
  let opened = false;
  limiter.whenOpen("interactive", () => (opened = true));
  await vi.advanceTimersByTimeAsync(51_000);
  expect(opened).toBe(true);
  expect(await passing(100, call())).toMatchObject({ end: 200 });
  expect(said).toEqual(["sent", "sent", "refused", "held back", "sent"]);
});

test("while the shared count is unavailable calls go on; this is reported once, and once more when it is back", async () => {
  const { call, passing, counted, said } = limited({ limit: 1_000 });
  await passing(100, call());
  counted.state.away = true;
  for (let i = 0; i < 5; i += 1) await passing(100, call());
  counted.state.away = false;
  await vi.advanceTimersByTimeAsync(6_000);
  await passing(100, call());
  expect(said.filter((word) => word !== "sent")).toEqual(["away", "back"]);
  expect(said.filter((word) => word === "sent")).toHaveLength(7);
});

test("a clock that is set back by an hour does not keep the shared count away for that hour", async () => {
  const { call, passing, counted, said } = limited({ limit: 1_000 });
  counted.state.away = true;
  await passing(100, call());
  counted.state.away = false;
  vi.setSystemTime(Date.now() - 3_600_000);
  await passing(100, call());
  expect(said.filter((word) => word !== "sent")).toEqual(["away", "back"]);
});

test("a failing service is probed by one call at a time, and by an unrepeatable write only if no other call waits", async () => {
  const { call, passing, service, limiter } = limited({ limit: 1_000 });
  await passing(100, call());
  service.answers.status = 503;
  for (let i = 0; i < 5; i += 1) await passing(100, call());
  const [unrepeatable, one, other] = [call({ freshConnection: true }), call(), call()];
  await vi.advanceTimersByTimeAsync(1_010);
  expect(limiter.waiting.interactive).toBe(2);
  service.answers.status = 200;
  await vi.advanceTimersByTimeAsync(200);
  const ends = await Promise.all([unrepeatable, one, other]);
  expect(ends.map(({ end }) => end)).toEqual([200, 200, 200]);
});
