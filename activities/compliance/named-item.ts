import type { Item } from "../../src/contract/index.ts";
import type { OddRow } from "../../src/http/read-rows.ts";

/** The item of that id, else of that external id, else of that SKU. A name that two items have names none: nothing is guessed. */
export function namedItem(
  items: readonly Item[],
  name: string,
  leftOut: readonly OddRow[] = [],
): { item: Item } | { reason: string } {
  for (const key of ["id", "externalId", "sku"] as const) {
    const named = items.filter((item) => item[key] === name);
    const [item] = named;
    if (item && named.length === 1) return { item };
    if (item) return { reason: `${named.length} items have the ${key} "${name}"` };
  }
  const odd = leftOut.find(({ names }) => Object.values(names).includes(name));
  if (odd) return { reason: `the item "${name}" cannot be read: its field "${odd.field}" (${odd.problem})` };
  return { reason: `no item has the id, external id or SKU "${name}"` };
}
