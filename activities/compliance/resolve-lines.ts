import type { Item, ItemsResult, KnownItem, SaleLineInput } from "../../src/contract/index.ts";

/** The item that each line names. A name that fits no item, or two, resolves none of the lines. */
export function resolveLines(lines: readonly SaleLineInput[], items: readonly Item[]): ItemsResult {
  const resolved: KnownItem[] = [];
  const unknown: { line: number; reason: string }[] = [];
  lines.forEach((line, index) => {
    const { key, value } = nameOf(line);
    const named = items.filter((item) => (key === "itemId" ? item.id : item[key]) === value);
    const [item] = named;
    if (item && named.length === 1) resolved.push(knownItem(item));
    else
      unknown.push({
        line: index,
        reason: `${named.length === 0 ? "no item has" : `${named.length} items have`} ${key} "${value}"`,
      });
  });
  return unknown.length > 0 ? { kind: "unknown", unknown } : { kind: "resolved", items: resolved };
}

function nameOf(line: SaleLineInput): { key: "itemId" | "externalId" | "sku"; value: string } {
  if (line.itemId !== undefined) return { key: "itemId", value: line.itemId };
  if (line.externalId !== undefined) return { key: "externalId", value: line.externalId };
  return { key: "sku", value: line.sku ?? "" };
}

/** Only what a sale needs goes into its history. */
export function knownItem(item: Item): KnownItem {
  const { id, name, stockTracked, registrationStatus, needs } = item;
  return { id, name: name ?? null, stockTracked, registrationStatus, needs: needs ?? null };
}
