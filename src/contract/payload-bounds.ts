import { jsonBytes } from "./plain-text.ts";
import { type Attention, type Decision, holdsUpDocument } from "./attention.ts";
import type { ResolvedLine, SaleDocument } from "./documents.ts";
import type { MovementState, StockMovement } from "./stock-movement.ts";

/**
 * No payload is to be above 256 KB, from where on Temporal warns, however many lines a sale has. An answer about a sale
 * holds at most two documents, and for each of them movements, attentions and decisions.
 */
const MOST_BYTES = { lines: 48 * 1024, movements: 32 * 1024, attentions: 24 * 1024, decisions: 16 * 1024 };

export type MovementCount = Pick<StockMovement, "purpose" | "state"> & { count: number };

export interface InAll {
  stockMovements?: MovementCount[];
  attentions?: number;
  decisions?: number;
}

interface Listed {
  movements: StockMovement[];
  attentions: Attention[];
  decisions: Decision[];
  inAll?: InAll | undefined;
}

/**
 * As much of them as an answer may hold, the pressing ones first: attentions that hold up the document; movements that
 * these are about, or that are not done. `inAll` is set if something is left out. What fits is as it was.
 */
export function bounded({ movements, attentions, decisions, inAll = {} }: Listed): Listed {
  const rank = (one: Attention): number => (holdsUpDocument(one, movements) ? 0 : 1);
  const needs = firstOf(attentions, MOST_BYTES.attentions, rank);
  const about = new Set(needs.map(({ subject }) => subject));
  const moved = firstOf(movements, MOST_BYTES.movements, ({ referenceId, state }) =>
    about.has(referenceId) ? 0 : PRESSING.indexOf(state) + 1,
  );
  // The last ones are those that an operator has just made.
  const latest = firstOf(decisions.toReversed(), MOST_BYTES.decisions, () => 0).toReversed();
  const leftOut: InAll = {
    ...inAll,
    ...(moved.length < movements.length && { stockMovements: inAll.stockMovements ?? countsOf(movements) }),
    ...(needs.length < attentions.length && { attentions: inAll.attentions ?? attentions.length }),
    ...(latest.length < decisions.length && { decisions: inAll.decisions ?? decisions.length }),
  };
  return {
    movements: moved,
    attentions: needs,
    decisions: latest,
    ...(Object.keys(leftOut).length > 0 && { inAll: leftOut }),
  };
}

const PRESSING: readonly MovementState[] = ["unknown", "refused", "sending", "planned", "applied", "dropped"];

/** The first of them: as many as fit, and one in any case. */
export function thatFit<T>(all: readonly T[], mostBytes: number): T[] {
  return all.slice(0, Math.max(1, fitting(all, mostBytes)));
}

/** All where they fit, in their order; else the first by rank. One is kept in any case. */
function firstOf<T>(all: T[], mostBytes: number, rankOf: (one: T) => number): T[] {
  if (fitting(all, mostBytes) === all.length) return all;
  const ranked = all
    .map((one) => ({ one, rank: rankOf(one) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ one }) => one);
  return thatFit(ranked, mostBytes);
}

function fitting(all: readonly unknown[], mostBytes: number): number {
  let bytes = 0;
  const end = all.findIndex((one) => (bytes += jsonBytes(one) + 1) > mostBytes);
  return end === -1 ? all.length : end;
}

function countsOf(movements: readonly StockMovement[]): MovementCount[] {
  const counts = new Map<string, MovementCount>();
  for (const { purpose, state } of movements) {
    const known = counts.get(`${purpose} ${state}`);
    if (known) known.count++;
    else counts.set(`${purpose} ${state}`, { purpose, state, count: 1 });
  }
  return [...counts.values()];
}

export function withLinesThatFit(document: SaleDocument): SaleDocument {
  const { lines } = document;
  if (fitting(lines, MOST_BYTES.lines) === lines.length) return document;
  const goods = lines.map(({ itemId, quantity, unitPrice }): Goods => [itemId, quantity, unitPrice]);
  return { ...document, lines: [], linesLeftOut: { count: lines.length, goods } };
}

type Goods = [itemId: string, quantity: number, unitPrice: number];

export function goodsOf({ id, lines, linesLeftOut }: SaleDocument): ResolvedLine[] {
  if (!linesLeftOut) return lines.map(({ itemId, quantity, unitPrice }) => ({ itemId, quantity, unitPrice }));
  // Never taken for a document without lines.
  if (!linesLeftOut.goods) throw new Error(`of the lines of ${id} their number alone is known`);
  return linesLeftOut.goods.map(([itemId, quantity, unitPrice]) => ({ itemId, quantity, unitPrice }));
}

export function asAnswered<Document extends SaleDocument | null>(document: Document): Document {
  if (!document) return document;
  const short = withLinesThatFit(document);
  if (!short.linesLeftOut) return document;
  const { count } = short.linesLeftOut;
  return { ...document, lines: [], linesLeftOut: { count } };
}
