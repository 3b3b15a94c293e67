import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";

import { sha256Hex } from "./ids.ts";

const reference = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

test.each([
  ["the empty text", ""],
  ["a NUL", "\0"],
  ["NULs among letters", "a\0b\0"],
  ["an emoji", "\u{1F9FE}"],
  ["emoji across a block's end", "\u{1F9FE}".repeat(40)],
  ["a long text", "INV-1001 ".repeat(5_000)],
])("%s has the digest that node:crypto gives", (_what, text) => {
  expect(sha256Hex(text)).toBe(reference(text));
});

test("every length around the block's padding has the digest that node:crypto gives", () => {
  for (let length = 0; length <= 200; length++) {
    const text = "x".repeat(length);
    expect(sha256Hex(text)).toBe(reference(text));
  }
});

test("any well-formed text has the digest that node:crypto gives", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      expect(sha256Hex(text)).toBe(reference(text));
    }),
  );
});

test("half of a surrogate pair counts as the replacement character, as it does in node:crypto", () => {
  expect(sha256Hex("a\uD83D")).toBe(reference("a\uFFFD"));
});
