import { expect, test } from "vitest";

import { timelinePage, withAllCallbacks } from "./show-timeline.ts";

test("the page of a timeline begins with the sale's start, and dates what was on another day", () => {
  const entries = [
    { atMs: Date.parse("2026-11-23T11:41:10Z"), what: "started" },
    { atMs: Date.parse("2026-11-24T06:00:05Z"), what: "was reset", note: "a wrong branch" },
    { atMs: Date.parse("2026-11-24T06:00:06Z"), what: "found the document created before", tookMs: 200 },
  ];
  expect(timelinePage({ entries, complete: true }).split("\n")).toEqual([
    "Timeline, from 2026-11-23 14:41 EAT",
    "  14:41:10  started",
    "  2026-11-24 09:00:05  was reset, a wrong branch",
    "  2026-11-24 09:00:06  found the document created before, 0.2 s",
  ]);
});

test("the callbacks of the runs before the last one count too, as far as the timeline has them", () => {
  const entries = [1, 2, 3].map((atMs) => ({ atMs, what: "received a callback" }));
  const timeline = { entries, complete: true };
  expect(withAllCallbacks({ callbacksReceived: 1 }, timeline)).toEqual({ callbacksReceived: 3 });
  expect(withAllCallbacks({ callbacksReceived: 1 }, undefined)).toEqual({ callbacksReceived: 1 });
});
