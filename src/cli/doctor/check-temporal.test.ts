import { expect, test } from "vitest";

import type { ScheduleChange } from "../setup/setup.ts";
import { schedulesFindings, workersFinding } from "./check-temporal.ts";

const NOW_MS = 1_000_000;

function polled(...agoMs: number[]) {
  return agoMs.map((ago, index) => ({ identity: `worker ${index}`, polledAtMs: NOW_MS - ago, version: undefined }));
}

test.each<[string, ReturnType<typeof polled>, boolean, string, string]>([
  ["lately", polled(80_000, 12_000), true, "ok", '2 polled lately; the last poll of "fiscalflow" began 12 s ago'],
  ["a minute ago, as a worker that waits for work does", polled(60_000), true, "ok", "began 60 s ago"],
  [
    "longer ago than a poll lasts",
    polled(80_000, 70_000),
    true,
    "fault",
    "began 70 s ago, and a worker that runs polls",
  ],
  ["not at all", [], true, "fault", 'none polls "fiscalflow"'],
  ["never, before the first sale", [], false, "warning", 'none polls "fiscalflow"'],
])("doctor says of workers that polled %s how long ago that was", (_, polls, hasSales, level, words) => {
  expect(workersFinding(polls, hasSales, NOW_MS)).toMatchObject({ level, message: expect.stringContaining(words) });
});

const there: ScheduleChange = { id: "one", change: "unchanged" };

test.each<[string, ScheduleChange[], object[]]>([
  ["none is wanted", [], []],
  ["all are there", [there], [{ level: "ok", message: "all 1 are there, and none is paused" }]],
  [
    "one is missing and one paused",
    [there, { id: "two", change: "created" }, { id: "three", change: "unchanged", paused: true }],
    [{ level: "warning", message: "two is missing; three is paused", todo: "run `fiscalflow setup`" }],
  ],
])("doctor says of Schedules that %s", (_, changes, findings) => {
  expect(schedulesFindings(changes)).toMatchObject(findings);
  expect(schedulesFindings(changes)).toHaveLength(findings.length);
});
