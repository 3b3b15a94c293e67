import { createHash } from "node:crypto";

import { seededRandom } from "../seeded-random.ts";
import {
  type BillPaymentBody,
  billPaymentSchema,
  type HiddenFacts,
  hiddenFactsSchema,
  known,
  parseInstruction,
  paymentMethods,
  requireNew,
} from "../scenario.ts";

export interface BookedPayment extends HiddenFacts {
  body: BillPaymentBody;
}

export const sortFields = ["paymentDate", "totalAmount", "createdAt", "updatedAt"] as const;
export type SortField = (typeof sortFields)[number];

/** All bill payments. What is added or changed moves between the pages of a client that reads them meanwhile. */
export class BillPaymentBook {
  readonly #payments = new Map<string, BookedPayment>();
  /** Ascending; made anew when something has changed since. */
  readonly #sorted = new Map<SortField, { payments: BookedPayment[]; asOf: number }>();
  readonly #nowMs: () => number;
  #changes = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** `createdAt` and `updatedAt` are now, where the body does not say. */
  add(raw: unknown, facts: Partial<HiddenFacts> = {}): BookedPayment {
    const parsed = parseInstruction("bill payment", billPaymentSchema, raw);
    requireNew("bill payment", this.#payments, parsed.id);
    const now = new Date(this.#nowMs()).toISOString();
    const hidden = parseInstruction("bill payment", hiddenFactsSchema, facts);
    const booked = { body: { createdAt: now, updatedAt: now, ...parsed }, ...hidden };
    this.#payments.set(parsed.id, booked);
    for (const sorted of this.#sorted.values()) sorted.payments.push(booked);
    this.#changes += 1;
    return booked;
  }

  /** `updatedAt` is now, unless the patch says another, or changes the status alone. */
  change(id: string, patch: Record<string, unknown>, facts: Partial<HiddenFacts> = {}): BookedPayment {
    const booked = known("bill payment", this.#payments, id);
    const touched = Object.keys(patch).length > 0 ? { updatedAt: new Date(this.#nowMs()).toISOString() } : {};
    booked.body = parseInstruction("bill payment", billPaymentSchema, { ...booked.body, ...touched, ...patch, id });
    const { status, method, companyId } = booked;
    Object.assign(booked, parseInstruction("bill payment", hiddenFactsSchema, { status, method, companyId, ...facts }));
    this.#changes += 1;
    return booked;
  }

  remove(id: string): void {
    this.#payments.delete(id);
    this.#sorted.clear();
  }

  all(): Iterable<BookedPayment> {
    return this.#payments.values();
  }

  /** @param unstableTies those that the field does not tell apart come in another order at every request */
  sorted(field: SortField, direction: "asc" | "desc", unstableTies: boolean): readonly BookedPayment[] {
    const sorted = this.#sorted.get(field) ?? { payments: [...this.#payments.values()], asOf: -1 };
    if (unstableTies) this.#changes += 1;
    if (sorted.asOf !== this.#changes) {
      const salt = unstableTies ? this.#changes : undefined;
      // Nearly in order already, which makes the sort a single pass.
      sorted.payments.sort(
        (left, right) => compare(valueOf(left, field), valueOf(right, field)) || tie(left, right, salt),
      );
      sorted.asOf = this.#changes;
      this.#sorted.set(field, sorted);
    }
    return direction === "asc" ? sorted.payments : sorted.payments.toReversed();
  }

  /**
   * Makes up `count` payments, always the same: one made each minute up to now, nine in ten synced, amounts in cents,
   * one to three lines.
   */
  generate(count: number): void {
    const nowMs = this.#nowMs();
    const random = seededRandom(2);
    for (let index = 0; index < count; index++) {
      const number = 1 + index;
      const createdMs = nowMs - (count - index) * 60_000;
      const cents = 100 + Math.floor(random() * 50_000_000);
      const supplier = Math.floor(random() * suppliers.length);
      const updatedMs = createdMs + Math.floor(random() * (nowMs - createdMs));
      const chance = random();
      const status = chance < 0.9 ? "synced" : chance < 0.94 ? "failed" : chance < 0.97 ? "pending" : "syncing";
      const bill = `bill_${number}`;
      const body = {
        id: `bp_${String(number).padStart(7, "0")}`,
        supplierRef: { id: `sup_${supplier}`, name: suppliers[supplier] ?? "" },
        accountRef: { id: "acc_1", name: "Equity Bank" },
        paymentMethodRef: { id: "pm_1", name: "Bank transfer" },
        billRef: { id: bill, billCode: `INV-${number}` },
        totalAmount: cents / 100,
        currency: random() < 0.9 ? "KES" : "USD",
        currencyRate: 1,
        date: new Date(createdMs).toISOString().slice(0, 10),
        billPaymentCode: `BP-${number}`,
        note: "",
        lines: linesOf(cents, bill, 1 + Math.floor(random() * 3), createdMs),
        createdAt: new Date(createdMs).toISOString(),
        updatedAt: new Date(updatedMs).toISOString(),
      };
      const method = paymentMethods[Math.floor(random() * paymentMethods.length)] ?? "other";
      this.add(body, { status, method });
    }
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

const suppliers = ["Kericho Highlands Tea", "Mombasa Millers", "Nakuru Packaging", "Thika Logistics", "Kisumu Fresh"];

/** Lines that add up to the whole. */
function linesOf(cents: number, billId: string, count: number, createdMs: number): unknown[] {
  const part = Math.floor(cents / count);
  return Array.from({ length: count }, (_, index) => {
    const amount = (index === count - 1 ? cents - part * (count - 1) : part) / 100;
    const allocatedOnDate = new Date(createdMs).toISOString().slice(0, 10);
    return { amount, allocatedOnDate, reference: `line ${index + 1}`, links: [{ billId, amount }] };
  });
}
