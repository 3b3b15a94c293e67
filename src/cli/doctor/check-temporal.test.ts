import { expect, test } from "vitest";

import { workersFinding } from "./check-temporal.ts";

const NOW_MS = 1_000_000;

function polled(...agoMs: number[]) {
  return agoMs.map((ago, index) => ({ identity: `worker ${index}`, polledAtMs: NOW_MS - ago }));
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
