import Table from "cli-table3";

/** Columns without lines, for a terminal. */
export function plainTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const none = Object.fromEntries(
    ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
      .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid"])
      .map((name) => [name, ""]),
  );
  const table = new Table({
    head: [...head],
    chars: { ...none, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}
