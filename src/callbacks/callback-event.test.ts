import { describe, expect, it } from "vitest";
import fc from "fast-check";

import { callbackEvent } from "./receiver.ts";

const eventOf = (text: string) => callbackEvent(Buffer.from(text));

describe("the event of a callback", () => {
  it("is taken from a JSON object with a short string of that name", () => {
    expect(eventOf('{"event":"sale.completed","status":"completed"}')).toBe("sale.completed");
    expect(eventOf(JSON.stringify({ event: "e".repeat(64) }))).toBe("e".repeat(64));
  });

  it("is absent for any other body", () => {
    const others = [
      "",
      "event=sale.completed",
      "null",
      "[]",
      '"event"',
      "{}",
      '{"event":1}',
      '{"event":""}',
      '{"event":{}}',
    ];
    for (const body of others) expect(eventOf(body)).toBeUndefined();
    expect(eventOf(JSON.stringify({ event: "e".repeat(65) }))).toBeUndefined();
    expect(eventOf(JSON.stringify({ event: "two\nlines" }))).toBeUndefined();
    expect(eventOf('{"event":"\\ud800"}')).toBeUndefined();
    expect(eventOf("[".repeat(500_000))).toBeUndefined();
  });

  it("never throws and never exceeds 64 characters, whatever the bytes", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          expect((callbackEvent(Buffer.from(bytes)) ?? "").length).toBeLessThanOrEqual(128);
        },
      ),
    );
  });
});
