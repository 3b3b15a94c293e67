import type { OddRow } from "../../src/http/read-rows.ts";
import {
  isRegistered,
  type Item,
  type ItemsResult,
  type KnownItem,
  type SaleLineInput,
} from "../../src/contract/index.ts";

/** Characters. */
const LONGEST_NAME = 40;

/**
 * The item that each line names. A name that fits no item, or two, resolves none of the lines.
 * @param leftOut rows of the list that are not of their form: a line that names one is told so
 */
export function resolveLines(
  lines: readonly SaleLineInput[],
  items: readonly Item[],
  leftOut: readonly OddRow[] = [],
): ItemsResult {
  const resolved: KnownItem[] = [];
  const unknown: { line: number; reason: string }[] = [];
  lines.forEach((line, index) => {
    const { key, value } = nameOf(line);
    const name = key === "itemId" ? "id" : key;
    const named = items.filter((item) => item[name] === value);
    const odd = leftOut.filter(({ names }) => names[name] === value);
    const [item] = named;
    if (item && named.length + odd.length === 1) resolved.push(knownItem(item));
    else unknown.push({ line: index, reason: reasonOf(`${key} "${value}"`, named.length + odd.length, odd, leftOut) });
  });
  return unknown.length > 0 ? { kind: "unknown", unknown } : { kind: "resolved", items: resolved };
}

function reasonOf(name: string, count: number, [odd]: readonly OddRow[], leftOut: readonly OddRow[]): string {
  if (count > 1) return `${count} items have ${name}`;
  if (odd) return `the item with ${name} is in the list, and ${wrongIn(odd)}`;
  const others =
    leftOut.length === 0 ? "" : `; ${countOf(leftOut)} of the list cannot be read (${wrongIn(leftOut[0])})`;
  return `no item has ${name}${others}`;
}

function countOf({ length }: readonly OddRow[]): string {
  return length === 1 ? "1 item" : `${length} items`;
}

function wrongIn(odd: OddRow | undefined): string {
  return `its field "${odd?.field ?? ""}" is not what the API's document says: ${odd?.problem ?? ""}`;
}

function nameOf(line: SaleLineInput): { key: "itemId" | "externalId" | "sku"; value: string } {
  if (line.itemId !== undefined) return { key: "itemId", value: line.itemId };
  if (line.externalId !== undefined) return { key: "externalId", value: line.externalId };
  return { key: "sku", value: line.sku ?? "" };
}

/** Only what a sale needs goes into its history: a name is for people, who are told of an item that is not registered. */
export function knownItem(item: Item): KnownItem {
  const { id, name, stockTracked, registrationStatus } = item;
  if (isRegistered(item)) return { id, stockTracked, registrationStatus };
  const short = name && Array.from(name).slice(0, LONGEST_NAME).join("");
  return { id, name: short ?? null, stockTracked, registrationStatus };
}
