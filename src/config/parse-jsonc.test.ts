import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonc } from "./parse-jsonc.ts";

function problemIn(text: string) {
  const reading = parseJsonc(text);
  return reading.ok ? undefined : reading.problem;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("reading JSON with comments", () => {
  it("gives what JSON.parse gives for every JSON text", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(parseJsonc(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it("refuses what JSON.parse refuses, when there is no comment and no trailing comma in it", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"a"',
      '"b"',
      "1",
      "-",
      "0",
      ".5",
      "e3",
      "true",
      "nul",
      " ",
      "\n",
      '"',
      "\\",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        fc.pre(!/,\s*[\]}]/.test(text) && problemIn(text)?.message !== "this key stands twice in its object");
        expect(parseJsonc(text).ok).toBe(isJson(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it("allows comments, trailing commas and a byte order mark", () => {
    const text = '\uFEFF// first\n{ /* in\nside */ "a": [1, 2,], // last\n "b": "// kept", }\n';
    expect(parseJsonc(text)).toEqual({ ok: true, value: { a: [1, 2], b: "// kept" } });
  });

  it("keeps a key called __proto__ a key", () => {
    const reading = parseJsonc('{"__proto__":{"polluted":true}}');
    expect(reading.ok && Object.keys(Object(reading.value))).toEqual(["__proto__"]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, "expected a comma or the closing bracket"],
    ['{ "a" 1 }', 1, 7, "expected a colon after the key"],
    ["{ a: 1 }", 1, 3, "expected a key in double quotes, or }"],
    ["{ 'a': 1 }", 1, 3, "expected a key in double quotes, or }"],
    ['{ "a": }', 1, 8, "expected a value: an object, a list, a string, a number, true, false or null"],
    ['{\r\n"a": "never closed\r\n}', 2, 6, "a string that is not closed, or holds a bad escape"],
    ['{ "a": 1 } x', 1, 12, "a word that JSON does not have"],
    ['{ "a": 1 } {}', 1, 12, "expected nothing after the value"],
    ["[1] /* never closed", 1, 5, "a comment that is not closed"],
    ["", 1, 1, "expected a value: an object, a list, a string, a number, true, false or null"],
    ['{ "a": 1,\n  "a": 2 }', 2, 3, "this key stands twice in its object"],
    [`${"[".repeat(100_000)}`, 1, 1, "nested too deep"],
    [`${"[".repeat(66)}${"]".repeat(66)}`, 1, 66, "nested too deep"],
    [`${'{"a":'.repeat(66)}1${"}".repeat(66)}`, 1, 326, "nested too deep"],
  ])("says where and why %j is not JSON", (text, line, column, message) => {
    expect(problemIn(text)).toEqual({ line, column, message });
  });

  it("reads what is nested 64 levels deep", () => {
    const text = `${'{"a":'.repeat(32)}${"[".repeat(33)}1${"]".repeat(33)}${"}".repeat(32)}`;
    expect(parseJsonc(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it("never quotes the text, which may hold a secret", () => {
    expect(JSON.stringify(problemIn('{ "apiKey": cmp_sk_live_abc }'))).not.toContain("cmp");
  });

  it("never throws, and points into the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const problem = problemIn(text);
        expect(problem?.line ?? 1).toBeGreaterThanOrEqual(1);
        expect(problem?.column ?? 1).toBeLessThanOrEqual(text.length + 1);
      }),
    );
  });
});
