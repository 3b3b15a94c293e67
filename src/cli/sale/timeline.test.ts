import { expect, test } from "vitest";

import { timelineOf, timelinePage } from "./timeline.ts";

function payload(value: unknown) {
  return { metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from(JSON.stringify(value)) };
}

function timer(summary: string) {
  return [
    {
      eventId: 5,
      eventTime: { seconds: 100 },
      timerStartedEventAttributes: {},
      userMetadata: { summary: payload(summary) },
    },
    { eventId: 6, eventTime: { seconds: 120 }, timerFiredEventAttributes: { startedEventId: 5 } },
  ] as unknown as Parameters<typeof timelineOf>[0];
}

test("the timeline has the pauses of a sale", () => {
  expect(timelineOf(timer("Resubmission 1 of 3"))).toEqual([
    { atMs: 100_000, what: "Resubmission 1 of 3", tookMs: 20_000 },
  ]);
});

test.each([
  "A caller waits for the outcome",
  "The refund's caller waits for the credit note",
  "An operator waits to hear what came of an update",
])("the timeline leaves out the timer of an update: %s", (summary) => {
  expect(timelineOf(timer(summary))).toEqual([]);
});

test("the timeline says that a run was restarted, and why, and how the run before it ended", () => {
  const restarted = { note: "carry it on", by: "amina", atMs: 200_000, sent: true };
  const memo = { fields: { restarted: payload(restarted) } };
  const events = [
    { eventId: 1, eventTime: { seconds: 100 }, workflowExecutionStartedEventAttributes: {} },
    { eventId: 2, eventTime: { seconds: 150 }, workflowExecutionTerminatedEventAttributes: { reason: "by mistake" } },
    { eventId: 1, eventTime: { seconds: 200 }, workflowExecutionStartedEventAttributes: { memo } },
    {
      eventId: 2,
      eventTime: { seconds: 250 },
      workflowExecutionFailedEventAttributes: { failure: { message: "a\nb" } },
    },
  ] as unknown as Parameters<typeof timelineOf>[0];
  expect(timelineOf(events)).toEqual([
    { atMs: 100_000, what: "started" },
    { atMs: 150_000, what: "was terminated", note: "by mistake" },
    { atMs: 200_000, what: "was restarted", note: "carry it on" },
    { atMs: 250_000, what: "failed", note: "a" },
  ]);
});

test("the page of a timeline begins with the sale's start, and dates what was on another day", () => {
  const entries = [
    { atMs: Date.parse("2026-11-23T11:41:10Z"), what: "started" },
    { atMs: Date.parse("2026-11-24T06:00:05Z"), what: "was reset", note: "a wrong branch" },
    { atMs: Date.parse("2026-11-24T06:00:06Z"), what: "Issue the sale INV-1: completed before", tookMs: 200 },
  ];
  expect(timelinePage(entries).split("\n")).toEqual([
    "Timeline, from 2026-11-23 14:41 EAT",
    "  14:41:10  started",
    "  2026-11-24 09:00:05  was reset, a wrong branch",
    "  2026-11-24 09:00:06  Issue the sale INV-1: completed before, 0.2 s",
  ]);
});

test("the timeline tells calls to the API and waits by their summaries, with what they came to", () => {
  const scheduled = (eventId: number, summary: string, queue: string) => ({
    eventId,
    eventTime: { seconds: 100 },
    userMetadata: { summary: payload(summary) },
    activityTaskScheduledEventAttributes: { activityType: { name: "an activity" }, taskQueue: { name: queue } },
  });
  const completed = (scheduledEventId: number, result: object) => ({
    eventId: scheduledEventId + 100,
    eventTime: { seconds: 101 },
    activityTaskCompletedEventAttributes: { scheduledEventId, result: { payloads: [payload(result)] } },
  });
  const api = "fiscalflow.compliance.default";
  const events = [
    { eventId: 1, eventTime: { seconds: 90 }, workflowExecutionStartedEventAttributes: {} },
    scheduled(2, "Keep in the ledger what the run knows", "fiscalflow"),
    scheduled(3, "Issue the sale INV-1", api),
    scheduled(4, "Take 2 × Tea from stock", api),
    scheduled(5, "Take 3 × Tea from stock", api),
    scheduled(6, "Wait for the tax authority: each attempt is one look", "fiscalflow"),
    completed(3, { kind: "document", document: { status: "pending" } }),
    completed(4, { kind: "applied", sentAtMs: 80_000 }),
    completed(5, { kind: "unknown", evidence: { sentAtMs: 95_000 } }),
  ] as unknown as Parameters<typeof timelineOf>[0];
  const tookMs = 1_000;
  expect(timelineOf(events)).toMatchObject([
    { what: "started" },
    { what: "Issue the sale INV-1: pending", tookMs },
    { what: "Take 2 × Tea from stock: applied before", tookMs },
    { what: "Take 3 × Tea from stock: unknown", tookMs },
    { what: "Wait for the tax authority", note: "goes on" },
  ]);
});
