import { expect, test } from "vitest";

import { columnWidths } from "./tables.ts";

test("a list may have more rows than a function takes arguments", () => {
  const rows = Array.from({ length: 200_000 }, (_, row) => [`${row}`, "x"]);
  expect(columnWidths([["number", ""], ...rows])).toEqual([6, 1]);
});
