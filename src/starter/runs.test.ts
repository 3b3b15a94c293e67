import { Client, Connection } from "@temporalio/client";
import { expect, test } from "vitest";

import { pendingCallsOf, waitsForInstead } from "./runs.ts";

const NOW_MS = 1_795_000_000_000;
const at = (ms: number) => ({ seconds: Math.floor(ms / 1000), nanos: 0 });
const SCHEDULED = 1;
const STARTED = 2;

test("an activity that somebody has paused is shown as paused, also while its attempt runs, and whatever it calls", async () => {
  const client = new Client({ connection: Connection.lazy() });
  const pauseInfo = { pauseTime: at(NOW_MS - 1_000), manual: { identity: "njeri", reason: "it hangs" } };
  const paused = (name: string, state: number) => ({
    activityType: { name },
    state,
    attempt: 1,
    paused: true,
    pauseInfo,
  });
  const raw = { pendingActivities: [paused("adjustStock", STARTED), paused("noteRun", SCHEDULED)] } as never;
  const told = { state: "paused", attempt: 1, sinceMs: NOW_MS - 1_000, message: "njeri: it hangs" };
  expect(await pendingCallsOf(client, { raw }, NOW_MS)).toEqual([
    { call: "adjustStock", ...told },
    { call: "noteRun", ...told },
  ]);
});

test("a call whose attempt timed out with its worker is queued since then, for the next attempt", async () => {
  const client = new Client({ connection: Connection.lazy() });
  const timedOut = {
    activityType: { name: "createSale" },
    state: SCHEDULED,
    attempt: 2,
    scheduledTime: at(NOW_MS - 200_000),
    lastStartedTime: at(NOW_MS - 180_000),
    // As Temporal tells it: no attempt has ended by itself.
    lastAttemptCompleteTime: null,
    lastFailure: { message: "activity StartToClose timeout", timeoutFailureInfo: { timeoutType: 1 } },
  };
  const raw = { pendingActivities: [timedOut] } as never;
  expect(await pendingCallsOf(client, { raw }, NOW_MS)).toEqual([
    {
      call: "createSale",
      state: "queued",
      attempt: 2,
      sinceMs: NOW_MS - 180_000,
      message: "activity StartToClose timeout",
    },
  ]);
});

test("an activity that the ledger does not answer waits for the ledger, also while its next attempt runs", async () => {
  const client = new Client({ connection: Connection.lazy() });
  const away = (state: number) => ({
    activityType: { name: "prepareSale" },
    state,
    attempt: 3,
    lastStartedTime: at(NOW_MS - 9_000),
    lastAttemptCompleteTime: at(NOW_MS - 12_000),
    lastFailure: { message: "no answer", applicationFailureInfo: { type: "LedgerAway" } },
  });
  const raw = { pendingActivities: [away(STARTED), away(SCHEDULED)] } as never;
  const calls = await pendingCallsOf(client, { raw }, NOW_MS);
  const told = { call: "prepareSale", attempt: 3, waitsForLedger: true, message: "no answer" };
  expect(calls).toEqual([
    { ...told, state: "in-progress", sinceMs: NOW_MS - 9_000 },
    { ...told, state: "pausing", sinceMs: NOW_MS - 12_000 },
  ]);
  expect(waitsForInstead(calls)).toBe("the ledger, which does not answer");
});
