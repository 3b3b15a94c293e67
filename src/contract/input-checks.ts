import { nairobiDate } from "./nairobi-date.ts";
import type { SaleInput } from "./sale.ts";

export const INPUT_CHECK_MODES = ["off", "warn", "refuse"] as const;

/** How a sale is looked at before anything of it is sent. What is signed cannot be corrected, only credited. */
export interface InputChecks {
  mode: (typeof INPUT_CHECK_MODES)[number];
  /** A `saleDate` may lie this many days before the start. */
  saleDatePastDays: number;
  /** The codes that `paymentTypeCode` may have; absent: any. */
  paymentTypes?: readonly string[];
}

const DAY_MS = 86_400_000;
/**
 * Of a taxpayer; A of a person, P of an organisation. The ledger's database reads it too: all of it means the same there.
 */
export const PIN = /^[AP][0-9]{9}[A-Z]$/;
export const EXPECTED_PIN = "A or P, nine digits and a letter, such as P012345678Z";

/**
 * What looks wrong in a sale that is well-formed, each as `field: what was expected, what was found`. Nothing where the
 * sale was issued elsewhere, or the mode is `off`.
 * @param startedAtMs when the sale was started (Unix milliseconds)
 */
export function doubtsOf(
  { customer, saleDate, paymentTypeCode, saleId }: SaleInput,
  checks: InputChecks,
  startedAtMs: number,
): string[] {
  const { mode, saleDatePastDays, paymentTypes } = checks;
  if (mode === "off" || saleId !== undefined) return [];
  const doubts: string[] = [];
  const doubt = (field: string, expected: string, found: string): void => {
    doubts.push(`${field}: expected ${expected}, found ${JSON.stringify(found)}`);
  };
  if (customer?.pin !== undefined && !PIN.test(customer.pin)) doubt("customer.pin", EXPECTED_PIN, customer.pin);
  const [first, last] = [startedAtMs - saleDatePastDays * DAY_MS, startedAtMs + DAY_MS].map(nairobiDate);
  if (saleDate !== undefined && first !== undefined && last !== undefined && (saleDate < first || saleDate > last))
    doubt("saleDate", `a day from ${first} to ${last}`, saleDate);
  if (paymentTypeCode !== undefined && paymentTypes && !paymentTypes.includes(paymentTypeCode))
    doubt("paymentTypeCode", `one of ${paymentTypes.join(", ")}`, paymentTypeCode);
  return doubts;
}
