import {
  isRegistered,
  type Item,
  type ItemsResult,
  type KnownItem,
  type SaleLineInput,
} from "../../src/contract/index.ts";
import type { OddRow } from "../../src/http/read-body.ts";

interface Snapshot {
  /** When the request left (Unix milliseconds): what changed later may be missing. */
  askedAtMs: number;
  items: Map<string, Item>;
  odd: readonly OddRow[];
}

export interface ItemsList {
  items: Item[];
  /** Rows that are not of their form. */
  odd: readonly OddRow[];
  /** Of the answer that had them. */
  bytes: number;
}

/** Of the lists' answers; their items take two to four times as much. A large shop's list has one or two mebibytes. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

/**
 * The room that the catalogues of a process share. The lists that were used last are kept; one that was let go is read
 * again when somebody asks for it. The newest is kept whatever its size.
 */
export class CatalogueRoom {
  /** The one used longest ago is the first. */
  readonly #kept = new Map<object, { bytes: number; letGo: () => void }>();
  #bytes = 0;

  keep(list: object, bytes: number, letGo: () => void): void {
    this.#kept.set(list, { bytes, letGo });
    this.#bytes += bytes;
    for (const [other, { letGo: end }] of this.#kept) {
      if (this.#bytes <= MOST_KEPT_BYTES || other === list) return;
      this.leave(other);
      end();
    }
  }

  used(list: object): void {
    const kept = this.#kept.get(list);
    if (!kept) return;
    this.#kept.delete(list);
    this.#kept.set(list, kept);
  }

  leave(list: object): void {
    this.#bytes -= this.#kept.get(list)?.bytes ?? 0;
    this.#kept.delete(list);
  }
}

interface Reading {
  askedAtMs: number;
  answer: Promise<Snapshot>;
  /** Shown by other answers since it was asked for. */
  learned: Map<string, Item>;
}

/**
 * The items of each business of one connection, read once for all who ask (GET /v1/items is not paginated), and
 * corrected by every answer that shows an item. One a process.
 */
export class Catalogue {
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #readings = new Map<string, Reading>();
  readonly #read: (businessId: string | undefined) => Promise<ItemsList>;
  readonly #nowMs: () => number;
  readonly #room: CatalogueRoom;

  constructor(
    read: (businessId: string | undefined) => Promise<ItemsList>,
    nowMs: () => number,
    room = new CatalogueRoom(),
  ) {
    this.#read = read;
    this.#nowMs = nowMs;
    this.#room = room;
  }

  /** What is known without asking, where it was asked for since the given instant. */
  known(businessId: string | undefined, sinceMs: number): Item[] | undefined {
    const snapshot = this.#snapshots.get(businessId ?? "");
    if (!snapshot || snapshot.askedAtMs < sinceMs) return undefined;
    this.#room.used(snapshot);
    return [...snapshot.items.values()];
  }

  /**
   * The items as asked for since the given instant. Those who ask while a fitting request is under way share its
   * answer, and its error.
   */
  async since(businessId: string | undefined, sinceMs: number): Promise<Item[]> {
    const known = this.known(businessId, sinceMs);
    if (known) return known;
    const key = businessId ?? "";
    const underWay = this.#readings.get(key);
    const reading = underWay && underWay.askedAtMs >= sinceMs ? underWay : this.#ask(key, businessId);
    return [...(await reading.answer).items.values()];
  }

  /** {@link resolveLines}, by what is known without asking. */
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

  /** An answer that showed an item is newer than the list, and than one that is still under way. */
  learn(businessId: string | undefined, item: Item): void {
    const key = businessId ?? "";
    this.#snapshots.get(key)?.items.set(item.id, item);
    this.#readings.get(key)?.learned.set(item.id, item);
  }

  #ask(key: string, businessId: string | undefined): Reading {
    const askedAtMs = this.#nowMs();
    const learned = new Map<string, Item>();
    const answer = this.#read(businessId).then(({ items, odd, bytes }) => {
      const byId = new Map([...items.map((item) => [item.id, item] as const), ...learned]);
      const snapshot = { askedAtMs, items: byId, odd };
      const current = this.#snapshots.get(key);
      if (current && current.askedAtMs > askedAtMs) return snapshot;
      if (current) this.#room.leave(current);
      this.#snapshots.set(key, snapshot);
      this.#room.keep(snapshot, bytes, () => this.#snapshots.delete(key));
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
}

/** Characters. */
const LONGEST_NAME = 40;
/** Of a sale with more lines the names of registered items would make its history long. */
const MOST_NAMED = 50;

/**
 * The item that each line names. A name that fits no item, or two, names none.
 * @param leftOut rows of the list that are not of their form: the answer to a line that names one says so
 */
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

/**
 * Only what a sale needs goes into its history: a name is for people, and only unregistered items are shown to them.
 * @param named whether a registered item has its name too
 */
export function knownItem(item: Item, named = false): KnownItem {
  const { id, name, stockTracked, registrationStatus } = item;
  if (isRegistered(item) && !named) return { id, stockTracked, registrationStatus };
  const short = name && Array.from(name).slice(0, LONGEST_NAME).join("");
  return { id, name: short ?? null, stockTracked, registrationStatus };
}
