import { seededRandom } from "../seeded-random.ts";
import type { BillPaymentBook } from "./bill-payment-book.ts";
import { paymentMethods } from "./scenario.ts";

const suppliers = ["Kericho Highlands Tea", "Mombasa Millers", "Nakuru Packaging", "Thika Logistics", "Kisumu Fresh"];

/**
 * Makes up `count` payments, the same for the same seed: numbered from `from`, one made each minute up to now, nine in
 * ten synced, amounts in cents, one to three lines.
 */
export function generatePayments(book: BillPaymentBook, count: number, from: number, nowMs: number, seed = 1): void {
  const random = seededRandom(seed + from);
  const pick = <T>(choices: readonly [T, ...T[]] | readonly T[]): T =>
    choices[Math.floor(random() * choices.length)] as T;
  for (let index = 0; index < count; index++) {
    const number = from + index;
    const createdMs = nowMs - (count - index) * 60_000;
    const cents = 100 + Math.floor(random() * 50_000_000);
    const supplier = Math.floor(random() * suppliers.length);
    const updatedMs = createdMs + Math.floor(random() * (nowMs - createdMs));
    const chance = random();
    const status = chance < 0.9 ? "synced" : chance < 0.94 ? "failed" : chance < 0.97 ? "pending" : "syncing";
    const bill = `bill_${number}`;
    book.add(
      {
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
      },
      { status, method: pick(paymentMethods) },
    );
  }
}

/** Lines that add up to the whole. */
function linesOf(cents: number, billId: string, count: number, createdMs: number): unknown[] {
  const part = Math.floor(cents / count);
  return Array.from({ length: count }, (_, index) => {
    const amount = (index === count - 1 ? cents - part * (count - 1) : part) / 100;
    const allocatedOnDate = new Date(createdMs).toISOString().slice(0, 10);
    return { amount, allocatedOnDate, reference: `line ${index + 1}`, links: [{ billId, amount }] };
  });
}
