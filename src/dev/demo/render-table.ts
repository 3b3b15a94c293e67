import { stripVTControlCharacters } from "node:util";
import Table from "cli-table3";

const NUMBERS = ["API calls", "seconds"];

/** A table with a line below its head, and none between its rows. */
export function renderTable(head: readonly string[], rows: readonly string[][]): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((name) => (NUMBERS.includes(name) ? "right" : "left")),
    // Without its own colours, which a log shows as rubbish.
    style: { head: [], border: [] },
  });
  table.push(...rows);
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
