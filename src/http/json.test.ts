import fc from "fast-check";
import { expect, test } from "vitest";

import { parseJson } from "./json.ts";

test.each([
  ["9007199254740991", 9_007_199_254_740_991],
  ["9007199254740992", "9007199254740992"],
  ["9007199254740993", "9007199254740993"],
  ["-9007199254740993", "-9007199254740993"],
  ["123456789012345678901234567890", "123456789012345678901234567890"],
  ["1234567890123456.5", 1_234_567_890_123_456.5],
  ["12345678901234567e2", Number("12345678901234567e2")],
  ["0.12345678901234567", Number("0.12345678901234567")],
  ["1.00", 1],
  ['"90071992547409931"', "90071992547409931"],
  ['"\\\\" ', "\\"],
])("%s is read as it was written", (text, value) => {
  expect(parseJson(text)).toEqual({ json: value });
  expect(parseJson(`{"a":[${text},"\\"9007199254740993"]}`)).toEqual({ json: { a: [value, '"9007199254740993'] } });
});

test.each(["", "{", "undefined", "01234567890123456789", "-", "1 2", '{"a":9007199254740993', '"\\', "NaN"])(
  "%j is no JSON",
  (text) => {
    expect(parseJson(text)).toEqual({ problem: "not JSON" });
  },
);

test("is nested at most 100 levels deep, counted as brackets and not as text", () => {
  const deep = (levels: number) => `${'{"a":['.repeat(levels / 2)}"[[${"[".repeat(200)}"${"]}".repeat(levels / 2)}`;
  expect(parseJson(deep(100))).toHaveProperty("json");
  expect(parseJson(deep(102))).toEqual({ problem: "nested deeper than 100 levels" });
  expect(parseJson("[".repeat(3_000_000))).toHaveProperty("problem");
});

test("a text of millions of escapes is read", () => {
  const text = `["${"\\n".repeat(4_000_000)}",9007199254740993]`;
  expect(parseJson(text)).toEqual({ json: ["\n".repeat(4_000_000), "9007199254740993"] });
});

test("every value without such numbers is read as JSON.parse reads it", () => {
  const value = fc.jsonValue().filter((any) => !/\d{16}/.test(JSON.stringify(any)));
  fc.assert(
    fc.property(value, (any) => {
      expect(parseJson(JSON.stringify(any))).toEqual({ json: JSON.parse(JSON.stringify(any)) as unknown });
    }),
  );
});
