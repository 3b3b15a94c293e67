import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonc } from "./parse-jsonc.ts";

function problemIn(text: string) {
  const json = parseJsonc(text);
  return "problem" in json ? json.problem : undefined;
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
        expect(parseJsonc(text)).toEqual({ value: JSON.parse(text) });
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
        fc.pre(!/,\s*[\]}]/.test(text) && problemIn(text)?.includes("this key stands twice") !== true);
        expect(problemIn(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it("allows comments, trailing commas and a byte order mark", () => {
    const text = '\uFEFF// first\n{ /* in\nside */ "a": [1, 2,], // last\n "b": "// kept", }\n';
    expect(parseJsonc(text)).toEqual({ value: { a: [1, 2], b: "// kept" } });
  });

  it("keeps a key called __proto__ a key", () => {
    const json = parseJsonc('{"__proto__":{"polluted":true}}');
    expect("value" in json && Object.keys(Object(json.value))).toEqual(["__proto__"]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it.each([
    ['{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: comma expected"],
    ['{ "a" 1 }', "line 1, column 7: colon expected"],
    ["{ a: 1 }", "line 1, column 3: invalid symbol"],
    ["{ 'a': 1 }", "line 1, column 3: invalid symbol"],
    ['{ "a": }', "line 1, column 8: value expected"],
    ['{\r\n"a": "never closed\r\n}', "line 2, column 6: unexpected end of string"],
    ['{ "a": 1 } {}', "line 1, column 12: end of file expected"],
    ["[1] /* never closed", "line 1, column 5: unexpected end of comment"],
    ["", "line 1, column 1: value expected"],
    ['{ "a": 1,\n  "a": 2 }', "line 2, column 3: this key stands twice in its object"],
  ])("says where and why %j is not JSON", (text, problem) => {
    expect(problemIn(text)).toBe(problem);
  });

  it("never quotes the text, which may hold a secret", () => {
    expect(JSON.stringify(problemIn('{ "apiKey": cmp_sk_live_abc }'))).not.toContain("cmp");
  });
});
