import { stripVTControlCharacters } from "node:util";
import Table from "cli-table3";

import { plainLine } from "../../contract/plain-text.ts";

/** Painted once nothing is left in it that a terminal would obey. */
export type Cell = string | { text: string; paint: (text: string) => string };

const NUMBERS = ["API calls", "seconds"];

/** A table with a line below its head, and none between its rows. */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((name) => (NUMBERS.includes(name) ? "right" : "left")),
    // Without its own colours, which a log shows as rubbish.
    style: { head: [], border: [] },
  });
  table.push(
    ...rows.map((row) =>
      row.map((cell) => (typeof cell === "string" ? plainLine(cell) : cell.paint(plainLine(cell.text)))),
    ),
  );
  return withoutInnerLines(table.toString());
}

export function widthOf(table: string): number {
  return Math.max(...table.split("\n").map((line) => stripVTControlCharacters(line).length));
}

/** The line below the head stays, those between the rows go. */
function withoutInnerLines(table: string): string {
  const head = 2;
  return table
    .split("\n")
    .filter((line, index) => index <= head || !line.startsWith("├"))
    .join("\n");
}
