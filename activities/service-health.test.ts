import { expect, test } from "vitest";

import type { ServiceTrouble } from "../src/contract/index.ts";
import { type TransportErrorCode, TransportError } from "../src/http/errors.ts";
import { ServiceHealth } from "./classified-call.ts";
import { apiError, MINUTE, START_MS } from "./test-support/behind-breaker.ts";

/** @param before what the call's last attempt has said */
function watched(before?: ServiceTrouble) {
  const clock = { nowMs: START_MS };
  const asked: string[] = [];
  const health = new ServiceHealth(
    () => clock.nowMs,
    ({ kind }) => {
      asked.push(kind);
      return Promise.resolve(before?.kind === kind ? before : undefined);
    },
  );
  const status = (code: number, attempt = 2): Promise<void> =>
    health.failed(apiError("getSale", { status: code, envelope: true }), attempt);
  const transport = (code: TransportErrorCode): Promise<void> =>
    health.failed(new TransportError(code, { code, sent: "no" }), 2);
  return { clock, health, status, transport, asked };
}

test("the API is away from its first failure on, whatever the failures after it are, until it answers", async () => {
  const { clock, health, status, transport, asked } = watched();
  health.served();
  await transport("not-sent");
  clock.nowMs += MINUTE;
  await status(503);
  await transport("timeout");
  expect(health.trouble).toEqual({ kind: "away", sinceMs: START_MS });
  await status(404);
  expect(health.trouble).toBeUndefined();
  expect(asked).toEqual([]);
});

test.each([
  ["away", 503],
  ["rate-limited", 429],
] as const)("a process that has not had an answer yet does not know since when the API is %s", async (kind, code) => {
  const { health, status } = watched();
  await status(code);
  expect(health.trouble).toEqual({ kind, sinceMs: START_MS, orEarlier: true });
});

test("it takes over since when, where the call that fails has failed in the same way before", async () => {
  const before = { kind: "away", sinceMs: START_MS - MINUTE } as const;
  const { health, status, asked } = watched(before);
  await status(503, 1);
  expect(health.trouble).toEqual({ kind: "away", sinceMs: START_MS, orEarlier: true });
  await status(503);
  expect(health.trouble).toEqual(before);
  await status(503);
  expect(asked).toEqual(["away"]);
});

test("it takes over nothing of another trouble, and asks a bounded number of calls", async () => {
  const { health, status, asked } = watched({ kind: "held-back", sinceMs: START_MS - MINUTE });
  for (let call = 0; call < 20; call++) await status(503);
  expect(health.trouble).toEqual({ kind: "away", sinceMs: START_MS, orEarlier: true });
  expect(asked).toHaveLength(10);
});

test("the budget has held calls back from the first one on, until one is served", async () => {
  const { clock, health, transport } = watched();
  health.served();
  await transport("held-back");
  clock.nowMs += MINUTE;
  await transport("held-back");
  expect(health.trouble).toEqual({ kind: "held-back", sinceMs: START_MS });
  health.served();
  expect(health.trouble).toBeUndefined();
});

test("the API is rate limiting from its first 429 on, also while the budget holds calls back for that", async () => {
  const { clock, health, status, transport } = watched();
  health.served();
  await status(429);
  clock.nowMs += MINUTE;
  await transport("held-back");
  await transport("aborted");
  expect(health.trouble).toEqual({ kind: "rate-limited", sinceMs: START_MS });
  await transport("connection-lost");
  expect(health.trouble).toEqual({ kind: "away", sinceMs: START_MS + MINUTE });
  await status(429);
  expect(health.trouble).toEqual({ kind: "rate-limited", sinceMs: START_MS + MINUTE });
});
