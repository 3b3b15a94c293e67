import { expect, test } from "vitest";

import { timelineOf } from "./timeline.ts";

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
  expect(timelineOf(timer("Resubmission 1 of 3"))).toEqual([{ atMs: 100_000, what: "paused", tookMs: 20_000 }]);
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

test("a timeline leaves out the callbacks that a reset gives to the new run again", () => {
  const at = (eventId: number, more: object) => ({ eventId, eventTime: { seconds: eventId, nanos: 0 }, ...more });
  const callback = { workflowExecutionSignaledEventAttributes: { signalName: "callbackReceived" } };
  const events = [
    at(1, { workflowExecutionStartedEventAttributes: {} }),
    at(2, callback),
    at(3, { workflowTaskFailedEventAttributes: { newRunId: "new", baseRunId: "base" } }),
    at(4, callback),
    at(5, { workflowTaskScheduledEventAttributes: {} }),
    at(6, callback),
  ] as unknown as Parameters<typeof timelineOf>[0];
  expect(timelineOf(events).map(({ atMs, what }) => [atMs, what])).toEqual([
    [1_000, "started"],
    [2_000, "received a callback"],
    [3_000, "was reset"],
    [6_000, "received a callback"],
  ]);
});
