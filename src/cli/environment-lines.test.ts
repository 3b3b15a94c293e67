import { expect, test } from "vitest";

import { environmentLines } from "./environment-lines.ts";

const ENVIRONMENT = { PLAIN: "http://127.0.0.1:4010", QUOTED: "it's {one}", UNSET: undefined };

test("sets variables in a POSIX shell, and in PowerShell on Windows", () => {
  expect(environmentLines(ENVIRONMENT, "linux")).toEqual([
    "export PLAIN=http://127.0.0.1:4010",
    `export QUOTED='it'\\''s {one}'`,
  ]);
  expect(environmentLines(ENVIRONMENT, "win32")).toEqual([
    "$env:PLAIN = 'http://127.0.0.1:4010'",
    "$env:QUOTED = 'it''s {one}'",
  ]);
});
