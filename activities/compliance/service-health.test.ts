import { expect, test } from "vitest";

import { type TransportErrorCode, TransportError } from "../../src/http/errors.ts";
import { apiError, MINUTE, START_MS } from "../test-support/behind-breaker.ts";
import { ServiceHealth } from "./service-health.ts";

function watched() {
  const clock = { nowMs: START_MS };
  const health = new ServiceHealth(() => clock.nowMs);
  const status = (code: number): void => health.failed(apiError("getSale", { status: code, envelope: true }));
  const transport = (code: TransportErrorCode): void => health.failed(new TransportError(code, { code, sent: "no" }));
  return { clock, health, status, transport };
}

test("the API is away from its first failure on, whatever the failures after it are, until it answers", () => {
  const { clock, health, status, transport } = watched();
  health.served();
  transport("not-sent");
  clock.nowMs += MINUTE;
  status(503);
  transport("timeout");
  expect(health.trouble).toEqual({ kind: "away", sinceMs: START_MS });
  status(404);
  expect(health.trouble).toBeUndefined();
});

test("a process that has not had an answer yet does not know since when the API is away", () => {
  const { health, status } = watched();
  status(503);
  expect(health.trouble).toEqual({ kind: "away", sinceMs: START_MS, orEarlier: true });
});

test("the budget has held calls back from the first one on, until one is served", () => {
  const { clock, health, transport } = watched();
  transport("held-back");
  clock.nowMs += MINUTE;
  transport("held-back");
  expect(health.trouble).toEqual({ kind: "held-back", sinceMs: START_MS });
  health.served();
  expect(health.trouble).toBeUndefined();
});

test("the API is rate limiting from its first 429 on, also while the budget holds calls back for that", () => {
  const { clock, health, status, transport } = watched();
  status(429);
  clock.nowMs += MINUTE;
  transport("held-back");
  transport("aborted");
  expect(health.trouble).toEqual({ kind: "rate-limited", sinceMs: START_MS });
  transport("connection-lost");
  expect(health.trouble).toEqual({ kind: "away", sinceMs: START_MS + MINUTE });
});
