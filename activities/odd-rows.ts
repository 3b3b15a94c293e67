import type { OddRow } from "../src/http/read-rows.ts";
import type { Observation } from "../src/ledger/index.ts";
import type { Observer } from "./observer.ts";

type Where = Pick<Observation, "service" | "connection" | "businessId">;

/**
 * Notes what was left out of a list, once for each wrong field.
 * @param read how many rows were read
 */
export function noteOddRows(
  observer: Pick<Observer, "note">,
  where: Where,
  list: "items" | "purchases" | "bill payments",
  odd: readonly OddRow[],
  read: number,
): void {
  const byField = new Map<string, OddRow[]>();
  for (const row of odd) byField.set(row.field, [...(byField.get(row.field) ?? []), row]);
  for (const [field, rows] of byField) {
    const [first] = rows;
    const id = first?.names["id"];
    const which = id === undefined ? "the first has no id that can be read" : `the first is "${id}"`;
    const what = `${field === "" ? "the row" : `the field "${field}"`} does not have the documented form (${first?.problem ?? ""})`;
    const message = `${rows.length} of ${read + odd.length} ${list} of a list were left out: ${what}; ${which}`;
    observer.note({ ...where, kind: "odd-row", subject: `${list}: ${field}`, message });
  }
}
