import { expect, test } from "vitest";

import { shellWord } from "./plain-text.ts";

test.each([
  ["INV-1", "INV-1", "INV-1"],
  ["it's one", `'it'\\''s one'`, "'it''s one'"],
  ["a,b", "a,b", "'a,b'"],
  ["-x", "'-x'", "'-x'"],
])("the word %s can be pasted into a POSIX shell as %s, and into PowerShell as %s", (text, posix, powerShell) => {
  expect(shellWord(text, "linux")).toBe(posix);
  expect(shellWord(text, "win32")).toBe(powerShell);
});
