import type { Changes } from "./changes.ts";
import { InstructionError, parseInstruction } from "./problems.ts";
import { purchasePatchSchema, purchaseSchema, type Purchase, type PurchasePatch } from "./scenario-schema.ts";
import type { Timers } from "./timers.ts";

/** What a list of purchases may leave out. */
export interface PurchaseFilter {
  status: string | null;
  /** `YYYY-MM-DD`, itself included. */
  from: string | null;
  to: string | null;
}

/** Newest first; the id decides between invoices of one day, so that pages never overlap. */
function positionOf({ invoiceDate, id }: Pick<Purchase, "invoiceDate" | "id">): string {
  return `${invoiceDate} ${id}`;
}

/** The supplier invoices of every business, those that only the tax authority holds among them. */
export class PurchaseStore {
  readonly #known = new Map<string, Purchase>();
  /** What the list shows of each business, in its order. */
  readonly #listed = new Map<string, Purchase[]>();
  readonly #timers: Timers;
  readonly #changes: Changes;

  constructor(timers: Timers, changes: Changes) {
    this.#timers = timers;
    this.#changes = changes;
  }

  add(raw: unknown): void {
    const purchase = parseInstruction("purchase", purchaseSchema, raw);
    if (this.#known.has(purchase.id)) throw new InstructionError("purchase", [`purchase.id: "${purchase.id}" exists`]);
    this.#known.set(purchase.id, purchase);
    if (purchase.stored) this.#store(purchase);
  }

  /** Changes the fields that the patch names; one that changes the date moves the purchase in the list. */
  update(id: string, raw: unknown): void {
    const purchase = this.#require(id);
    const parsed: Record<string, unknown> = { ...parseInstruction("purchase", purchasePatchSchema, raw) };
    // A partial schema still fills in its defaults: what the patch does not name must stay.
    const named = Object.keys(typeof raw === "object" && raw !== null ? raw : {});
    const patch: PurchasePatch = Object.fromEntries(named.map((key) => [key, parsed[key]]));
    if (purchase.stored) this.#unlist(purchase);
    Object.assign(purchase, patch);
    if (purchase.stored) this.#list(purchase);
  }

  /** As if it had never been. */
  remove(id: string): void {
    const purchase = this.#require(id);
    if (purchase.stored) this.#unlist(purchase);
    this.#known.delete(id);
  }

  /** Stores what only the authority held until now, and says how many. */
  pull(businessId: string): number {
    const fetched = [...this.#known.values()].filter((one) => one.businessId === businessId && !one.stored);
    for (const purchase of fetched) this.#store(purchase);
    return fetched.length;
  }

  all(): Purchase[] {
    return [...this.#known.values()];
  }

  /**
   * At most `most` purchases behind `after`, which is the position of another one.
   * @returns with the position to go on from; null where there is nothing more
   */
  page(
    businessId: string,
    filter: PurchaseFilter,
    { after, most }: { after: string | null; most: number },
  ): { purchases: Purchase[]; next: string | null } {
    const listed = this.#listed.get(businessId) ?? [];
    const purchases: Purchase[] = [];
    for (let at = after === null ? 0 : placeOf(listed, after); at < listed.length; at++) {
      const purchase = listed[at];
      if (purchase === undefined || positionOf(purchase) === after || !fits(purchase, filter)) continue;
      const last = purchases.at(-1);
      if (purchases.length === most && last !== undefined) return { purchases, next: positionOf(last) };
      purchases.push(purchase);
    }
    return { purchases, next: null };
  }

  #require(id: string): Purchase {
    const purchase = this.#known.get(id);
    if (purchase === undefined) throw new InstructionError("purchase", [`there is no purchase "${id}"`]);
    return purchase;
  }

  /** From now on the list has it, and what its script says happens to it. */
  #store(purchase: Purchase): void {
    purchase.stored = true;
    this.#list(purchase);
    for (const { afterMs, ...change } of purchase.changes)
      this.#timers.after(afterMs, () => {
        if (this.#known.get(purchase.id) !== purchase) return;
        this.update(purchase.id, change);
        this.#changes.announce();
      });
  }

  #list(purchase: Purchase): void {
    const listed = this.#listed.get(purchase.businessId) ?? [];
    listed.splice(placeOf(listed, positionOf(purchase)), 0, purchase);
    this.#listed.set(purchase.businessId, listed);
  }

  #unlist(purchase: Purchase): void {
    const listed = this.#listed.get(purchase.businessId) ?? [];
    listed.splice(placeOf(listed, positionOf(purchase)), 1);
  }
}

/** Where the position stands in a list that is newest first, or would stand. */
function placeOf(listed: readonly Purchase[], position: string): number {
  let low = 0;
  let high = listed.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const purchase = listed[middle];
    if (purchase !== undefined && positionOf(purchase) > position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function fits({ status, invoiceDate }: Purchase, filter: PurchaseFilter): boolean {
  if (filter.status !== null && status !== filter.status) return false;
  return (filter.from === null || invoiceDate >= filter.from) && (filter.to === null || invoiceDate <= filter.to);
}
