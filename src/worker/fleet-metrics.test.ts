import { expect, onTestFinished, test } from "vitest";

import { LedgerUnavailableError } from "../ledger/index.ts";
import { watchFleet } from "./fleet-metrics.ts";

test("Schedules are looked at again as soon as the ledger is back", async () => {
  let turns = 0;
  /** By turn. */
  const lags: number[] = [];
  const set = (name: string) => (value: number, labels: { job?: string }) => {
    if (name === "fiscalflow_schedule_lag_seconds" && labels.job === "reconcile") lags[turns] = value;
  };
  const takeTurn = (): Promise<boolean> => {
    turns += 1;
    return turns === 2 ? Promise.reject(new LedgerUnavailableError("away")) : Promise.resolve(true);
  };
  const list = async function* () {};
  const end = watchFleet({
    client: { workflow: { count: () => Promise.resolve({ count: 0 }) }, schedule: { list } } as never,
    ledger: {
      fleet: { takeTurn, needsOfPersons: () => Promise.resolve([]), owedAnswers: () => Promise.resolve({}) },
      answers: () => Promise.resolve(),
      documents: { countEnded: () => Promise.resolve(0) },
    } as never,
    meter: { createGauge: (name: string) => ({ set: set(name) }) as never },
    identity: "one",
    log: { warn: () => undefined },
    everyMs: 10,
  });
  onTestFinished(end);
  await expect.poll(() => turns).toBeGreaterThan(3);
  expect(lags.slice(1, 4)).toEqual([0, Number.NaN, 0]);
});
