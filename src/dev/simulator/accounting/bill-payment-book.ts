import { createHash } from "node:crypto";
import { InstructionError, parseInstruction } from "../problems.ts";
import { type BillPaymentBody, billPaymentSchema, type HiddenFacts, hiddenFactsSchema, noFacts } from "./scenario.ts";

export interface BookedPayment extends HiddenFacts {
  body: BillPaymentBody;
}

export const sortFields = ["paymentDate", "totalAmount", "createdAt", "updatedAt"] as const;
export type SortField = (typeof sortFields)[number];

/** What a page is cut from. */
export interface Selection {
  sortBy: SortField;
  direction: "asc" | "desc";
  isWanted: (payment: BookedPayment) => boolean;
  page: number;
  limit: number;
}

/** All bill payments. What is added or changed moves between the pages of whoever reads them meanwhile. */
export class BillPaymentBook {
  readonly #payments = new Map<string, BookedPayment>();
  /** Ascending; made anew when something has changed since. */
  readonly #sorted = new Map<SortField, { payments: BookedPayment[]; asOf: number }>();
  readonly #nowMs: () => number;
  #changes = 0;
  /** Those that a sort field does not tell apart come in another order at every request. */
  unstableTies = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** `createdAt` and `updatedAt` are now, where the body does not say. */
  add(raw: unknown, facts: Partial<HiddenFacts> = {}): BookedPayment {
    const parsed = parseInstruction("bill payment", billPaymentSchema, raw);
    if (this.#payments.has(parsed.id)) throw new InstructionError("bill payment", [`"${parsed.id}" is there already`]);
    const now = new Date(this.#nowMs()).toISOString();
    const hidden = parseInstruction("bill payment", hiddenFactsSchema, { ...noFacts, ...facts });
    const booked = { body: { createdAt: now, updatedAt: now, ...parsed }, ...hidden };
    this.#payments.set(parsed.id, booked);
    for (const sorted of this.#sorted.values()) sorted.payments.push(booked);
    this.#changes += 1;
    return booked;
  }

  /** `updatedAt` is now, unless the patch says another, or changes the status alone. */
  change(id: string, patch: Record<string, unknown>, facts: Partial<HiddenFacts> = {}): BookedPayment {
    const booked = this.#payments.get(id);
    if (booked === undefined) throw new InstructionError("bill payment", [`there is no bill payment "${id}"`]);
    const touched = Object.keys(patch).length > 0 ? { updatedAt: new Date(this.#nowMs()).toISOString() } : {};
    booked.body = parseInstruction("bill payment", billPaymentSchema, { ...booked.body, ...touched, ...patch, id });
    const { status, method, companyId } = booked;
    Object.assign(booked, parseInstruction("bill payment", hiddenFactsSchema, { status, method, companyId, ...facts }));
    this.#changes += 1;
    return booked;
  }

  remove(id: string): boolean {
    const isGone = this.#payments.delete(id);
    if (isGone) this.#sorted.clear();
    return isGone;
  }

  all(): Iterable<BookedPayment> {
    return this.#payments.values();
  }

  get size(): number {
    return this.#payments.size;
  }

  /** The page, and how many there are in all. */
  select({ sortBy, direction, isWanted, page, limit }: Selection): { payments: BookedPayment[]; total: number } {
    const wanted = this.#sortedBy(sortBy).filter(isWanted);
    const from = (page - 1) * limit;
    if (direction === "asc") return { payments: wanted.slice(from, from + limit), total: wanted.length };
    const end = Math.max(0, wanted.length - from);
    return { payments: wanted.slice(Math.max(0, end - limit), end).toReversed(), total: wanted.length };
  }

  #sortedBy(field: SortField): BookedPayment[] {
    const sorted = this.#sorted.get(field) ?? { payments: [...this.#payments.values()], asOf: -1 };
    if (sorted.asOf === this.#changes && !this.unstableTies) return sorted.payments;
    if (this.unstableTies) this.#changes += 1;
    const salt = this.unstableTies ? this.#changes : undefined;
    // Nearly in order already, which makes the sort a single pass.
    sorted.payments.sort(
      (left, right) => compare(valueOf(left, field), valueOf(right, field)) || tie(left, right, salt),
    );
    sorted.asOf = this.#changes;
    this.#sorted.set(field, sorted);
    return sorted.payments;
  }
}

function valueOf({ body }: BookedPayment, field: SortField): string | number {
  if (field === "totalAmount") return body.totalAmount ?? 0;
  return (field === "paymentDate" ? body.date : body[field]) ?? "";
}

function compare(left: string | number, right: string | number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function tie(left: BookedPayment, right: BookedPayment, salt: number | undefined): number {
  if (salt === undefined) return compare(left.body.id, right.body.id);
  const shuffled = ({ body }: BookedPayment): string => createHash("md5").update(`${salt} ${body.id}`).digest("hex");
  return compare(shuffled(left), shuffled(right));
}
