import { expect, test } from "vitest";

import { environmentLines, shellWord } from "./output.ts";

const ENVIRONMENT = { PLAIN: "http://127.0.0.1:4010", QUOTED: "it's {one}", UNSET: undefined };

test.each([
  ["INV-1", "INV-1", "INV-1"],
  ["it's one", `'it'\\''s one'`, "'it''s one'"],
  ["a,b", "a,b", "'a,b'"],
  ["-x", "'-x'", "'-x'"],
])("the word %s can be pasted into a POSIX shell as %s, and into PowerShell as %s", (text, posix, powerShell) => {
  expect(shellWord(text, "linux")).toBe(posix);
  expect(shellWord(text, "win32")).toBe(powerShell);
});

test("the printed lines set variables in a POSIX shell, and in PowerShell on Windows", () => {
  expect(environmentLines(ENVIRONMENT, "linux")).toEqual([
    "export PLAIN=http://127.0.0.1:4010",
    `export QUOTED='it'\\''s {one}'`,
  ]);
  expect(environmentLines(ENVIRONMENT, "win32")).toEqual([
    "$env:PLAIN = 'http://127.0.0.1:4010'",
    "$env:QUOTED = 'it''s {one}'",
    "# PowerShell. In the Command Prompt: set PLAIN=http://127.0.0.1:4010, and so on",
  ]);
  expect(environmentLines({ UNSET: undefined }, "win32")).toEqual([]);
});
