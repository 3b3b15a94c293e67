import {
  isRegistered,
  type Item,
  type ItemsResult,
  type KnownItem,
  type SaleLineInput,
} from "../../src/contract/index.ts";
import type { OddRow } from "../../src/http/read-body.ts";

interface Snapshot extends Omit<ItemsList, "items"> {
  /** When the request left (Unix milliseconds): what changed later may be missing. */
  askedAtMs: number;
  items: Map<string, Item>;
}

export interface ItemsList {
  items: Item[];
  /** Rows that are not of their form. */
  odd: readonly OddRow[];
  /** Of the answer that had them. */
  bytes: number;
}

/**
 * Of the answers with lists of all connections; their items take two to four times as much. A large shop's list has one
 * or two mebibytes.
 */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

interface Reading {
  askedAtMs: number;
  answer: Promise<Snapshot>;
  /** What other answers have shown since it was asked for, and its own may lack. */
  learned: Map<string, Item>;
}

/**
 * The items of each business of one connection, read once for all who ask (GET /v1/items is not paginated), and
 * corrected by every answer that shows an item. The lists that were used last are kept, and the newest whatever its
 * size.
 */
export class Catalogue {
  /** The one used longest ago is the first. */
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #readings = new Map<string, Reading>();
  readonly #read: (businessId: string | undefined) => Promise<ItemsList>;
  readonly #nowMs: () => number;
  readonly #mostBytes: number;

  /** @param connections of this process, which share what the lists may take */
  constructor(read: (businessId: string | undefined) => Promise<ItemsList>, nowMs: () => number, connections = 1) {
    this.#read = read;
    this.#nowMs = nowMs;
    this.#mostBytes = MOST_KEPT_BYTES / connections;
  }

  /** Undefined if it was asked for before the given instant. */
  known(businessId: string | undefined, sinceMs: number): Item[] | undefined {
    const key = businessId ?? "";
    const snapshot = this.#snapshots.get(key);
    if (!snapshot || snapshot.askedAtMs < sinceMs) return undefined;
    this.#use(key, snapshot);
    return [...snapshot.items.values()];
  }

  /** Those who ask while a fitting request is under way share its answer, and its error. */
  async since(businessId: string | undefined, sinceMs: number): Promise<Item[]> {
    const known = this.known(businessId, sinceMs);
    if (known) return known;
    const key = businessId ?? "";
    const underWay = this.#readings.get(key);
    const reading = underWay && underWay.askedAtMs >= sinceMs ? underWay : this.#ask(key, businessId);
    return [...(await reading.answer).items.values()];
  }

  resolve(businessId: string | undefined, lines: readonly SaleLineInput[], sinceMs: number): ItemsResult | undefined {
    const known = this.known(businessId, sinceMs);
    return known && resolveLines(lines, known, this.leftOut(businessId));
  }

  /** Rows that the list at hand has left out. */
  leftOut(businessId: string | undefined): readonly OddRow[] {
    const snapshot = this.#snapshots.get(businessId ?? "");
    // What another answer has shown since is known.
    return (snapshot?.odd ?? []).filter(({ names }) => !snapshot?.items.has(names["id"] ?? ""));
  }

  /** An answer that showed an item is newer than the list at hand. */
  learn(businessId: string | undefined, item: Item): void {
    const key = businessId ?? "";
    this.#snapshots.get(key)?.items.set(item.id, item);
    this.#readings.get(key)?.learned.set(item.id, item);
  }

  #ask(key: string, businessId: string | undefined): Reading {
    const askedAtMs = this.#nowMs();
    const learned = new Map<string, Item>();
    const answer = this.#read(businessId).then(({ items, odd, bytes }) => {
      const snapshot = {
        askedAtMs,
        items: new Map([...items.map((item) => [item.id, item] as const), ...learned]),
        odd,
        bytes,
      };
      const current = this.#snapshots.get(key);
      if (!current || current.askedAtMs <= askedAtMs) this.#keep(key, snapshot);
      return snapshot;
    });
    const reading = { askedAtMs, answer, learned };
    this.#readings.set(key, reading);
    const done = (): void => {
      if (this.#readings.get(key) === reading) this.#readings.delete(key);
    };
    answer.then(done, done);
    return reading;
  }

  /** From now on it is the one that was used last. */
  #use(key: string, snapshot: Snapshot): void {
    this.#snapshots.delete(key);
    this.#snapshots.set(key, snapshot);
  }

  #keep(key: string, snapshot: Snapshot): void {
    this.#use(key, snapshot);
    let bytes = [...this.#snapshots.values()].reduce((sum, one) => sum + one.bytes, 0);
    for (const [other, { bytes: freed }] of this.#snapshots) {
      if (bytes <= this.#mostBytes || other === key) return;
      this.#snapshots.delete(other);
      bytes -= freed;
    }
  }
}

/** Characters. */
const LONGEST_NAME = 40;
/** Of a sale with more lines the names of registered items would make its history long. */
const MOST_NAMED = 50;

/** The item that each line names. A name that fits no item, or two, names none. */
export function resolveLines(
  lines: readonly SaleLineInput[],
  items: readonly Item[],
  leftOut: readonly OddRow[] = [],
): ItemsResult {
  const known: KnownItem[] = [];
  const unknown: { line: number; reason: string }[] = [];
  lines.forEach((line, index) => {
    const { key, value } = nameOf(line);
    const name = key === "itemId" ? "id" : key;
    const named = items.filter((item) => item[name] === value);
    const odd = leftOut.filter(({ names }) => names[name] === value);
    const [item] = named;
    if (item && named.length + odd.length === 1) known.push(knownItem(item, lines.length <= MOST_NAMED));
    else unknown.push({ line: index, reason: reasonOf(`${key} "${value}"`, named.length + odd.length, odd, leftOut) });
  });
  return unknown.length > 0 ? { kind: "unknown", unknown, items: known } : { kind: "resolved", items: known };
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

/** Only what a sale needs goes into its history: names are for people, who are shown unregistered items alone. */
export function knownItem(item: Item, named = false): KnownItem {
  const { id, name, stockTracked, registrationStatus } = item;
  if (isRegistered(item) && !named) return { id, stockTracked, registrationStatus };
  const short = name && Array.from(name).slice(0, LONGEST_NAME).join("");
  return { id, name: short ?? null, stockTracked, registrationStatus };
}
