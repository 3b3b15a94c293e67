import type { Row } from "./row-findings.ts";

/** Rows of a page by what they belong to. */
export function rowsBy<Kept extends Row>(rows: readonly Kept[], ownerOf: (row: Kept) => string): Map<string, Kept[]> {
  const groups = new Map<string, Kept[]>();
  for (const row of rows) {
    const owner = ownerOf(row);
    const group = groups.get(owner);
    if (group) group.push(row);
    else groups.set(owner, [row]);
  }
  return groups;
}
