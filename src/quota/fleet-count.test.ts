import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { FleetCount } from "./fleet-count.ts";
import { countedInMemory } from "./test-support/counted-in-memory.ts";
import { guessedWindow } from "./budget.ts";

const LIMIT = 10;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-11-21T09:00:10.000Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

function slowCount() {
  const { counts, state } = countedInMemory();
  state.slowMs = 1_500;
  const said: string[] = [];
  const count = new FleetCount({
    application: "shop",
    counts,
    nowMs: Date.now,
    onAway: (reason) => void said.push(reason),
    onBack: () => void said.push("back"),
  });
  const spend = (sentAnyway: boolean) =>
    count.spend(0, LIMIT, guessedWindow(60_000, Date.now()), Date.now(), sentAnyway);
  return { count, spend, state, said };
}

test.each([
  { sentAnyway: false, spent: 1, what: "is given back" },
  { sentAnyway: true, spent: 2, what: "stays spent, where the call went out all the same" },
])("a request that a slow shared count grants too late $what", async ({ sentAnyway, spent }) => {
  const { count, spend, state, said } = slowCount();
  const late = spend(sentAnyway);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(await late).toBeUndefined();
  expect(said).toEqual(["it did not answer within 1000 ms"]);
  state.slowMs = 0;
  await vi.advanceTimersByTimeAsync(1_000);
  await count.settled();
  expect(await spend(false)).toMatchObject({ granted: true, window: { spent } });
  expect(said.at(-1)).toBe("back");
});
