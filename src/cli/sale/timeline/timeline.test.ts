import { expect, test } from "vitest";

import { timelineOf } from "./timeline.ts";

function timer(summary: string) {
  const data = Buffer.from(JSON.stringify(summary));
  const metadata = { encoding: Buffer.from("json/plain") };
  return [
    {
      eventId: 5,
      eventTime: { seconds: 100 },
      timerStartedEventAttributes: {},
      userMetadata: { summary: { metadata, data } },
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
