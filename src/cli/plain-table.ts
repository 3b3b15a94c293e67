import { plainLine } from "../contract/plain-text.ts";
import { widthOf } from "../receipt/text.ts";

/**
 * Columns without lines, for a terminal.
 * @param right columns that are aligned to the right, from 0
 */
export function plainTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string {
  // A cell of several lines would look like several rows.
  const all = [head, ...rows.map((row) => row.map(plainLine))];
  const widths = columnWidths(all);
  return all.map((row) => tableLine(row, widths, right)).join("\n");
}

export function columnWidths(rows: readonly (readonly string[])[]): number[] {
  // A list may have more rows than a function takes arguments.
  return (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? "")), 0),
  );
}

/** A cell that is wider than its column stands out of line, and is whole. */
export function tableLine(cells: readonly string[], widths: readonly number[], right: readonly number[]): string {
  const padded = cells.map((cell, column) => {
    const gap = " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
    return right.includes(column) ? `${gap}${cell}` : `${cell}${gap}`;
  });
  return padded.join("  ").trimEnd();
}
