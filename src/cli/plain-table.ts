import Table from "cli-table3";

import { plainLine } from "../contract/plain-text.ts";

const NO_LINES = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
    .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid"])
    .map((name) => [name, ""]),
);

/**
 * Columns without lines, for a terminal.
 * @param right columns that are aligned to the right, from 0
 */
export function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, column) => (right.includes(column) ? "right" : "left")),
    chars: { ...NO_LINES, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  // A cell of several lines would look like several rows.
  table.push(...rows.map((row) => row.map(plainLine)));
  return table.toString();
}
