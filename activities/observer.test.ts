import { expect, test } from "vitest";

import type { Observation, Observations } from "../src/ledger/index.ts";
import { Observer } from "./observer.ts";

const seen: Observation = {
  service: "compliance",
  connection: "default",
  kind: "not-read",
  subject: "stock.report",
  value: "fiscal",
  message: "the answer has no fiscal",
};

function observing(ledger: Partial<Observations> = {}) {
  const clock = { nowMs: 0 };
  const logged: string[] = [];
  const kept: [subject: string, times: number][] = [];
  const note = async ({ subject }: Observation, times: number): Promise<void> => {
    kept.push([subject, times]);
  };
  const observations: Observations = { note, list: async () => [], ...ledger };
  const observer = new Observer({ observations }, { warn: (message) => void logged.push(message) }, () => clock.nowMs);
  return { observer, clock, logged, kept };
}

test("an observation is logged once a process, and kept at most once a minute with its count", () => {
  const { observer, clock, logged, kept } = observing();
  for (let n = 0; n < 1_000; n++) observer.note(seen);
  observer.note({ ...seen, subject: "another" });
  clock.nowMs = 60_000;
  observer.note(seen);
  expect(logged).toEqual(["the answer has no fiscal", "the answer has no fiscal"]);
  expect(kept).toEqual([
    ["stock.report", 1],
    ["another", 1],
    ["stock.report", 1_000],
  ]);
});

test("an observation that the ledger does not take is counted with the next one", async () => {
  let away = true;
  const kept: number[] = [];
  const { observer, clock } = observing({
    note: async (_seen, times) => {
      if (away) throw new Error("away");
      kept.push(times);
    },
  });
  observer.note(seen);
  await Promise.resolve();
  await Promise.resolve();
  away = false;
  clock.nowMs = 60_000;
  observer.note(seen);
  expect(kept).toEqual([2]);
});
