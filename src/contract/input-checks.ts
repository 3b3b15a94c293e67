import { nairobiDate } from "./nairobi-date.ts";
import { fewOf, plainJson } from "./plain-text.ts";
import { ERASED } from "./sale-content.ts";
import type { SaleFields } from "./schema/sale.ts";

export const INPUT_CHECK_MODES = ["off", "warn", "refuse"] as const;

/** How a sale or a refund is looked at before anything of it is sent. What is signed cannot be changed any more. */
export type InputChecks = (typeof INPUT_CHECK_MODES)[number];

/** A `saleDate` may lie this many days before the start, and a `returnDate` as many before the refund is asked for. */
const PAST_DAYS = 30;
const DAY_MS = 86_400_000;
/** A of a person, P of an organisation. The ledger's database reads it too. */
export const PIN = /^[AP][0-9]{9}[A-Z]$/;
export const EXPECTED_PIN = "A or P, nine digits and a letter, such as P012345678Z";

/**
 * What looks wrong in a sale that is well-formed, each as `field: what was expected, what was found`. Nothing where the
 * sale was issued elsewhere, or the mode is `off`.
 * @param startedAtMs when the sale was started (Unix milliseconds)
 */
export function doubtsOf(
  { customer, saleDate, saleId }: SaleFields,
  checks: InputChecks,
  startedAtMs: number,
): string[] {
  if (checks === "off" || saleId !== undefined) return [];
  const { pin } = customer ?? {};
  return [
    ...(pin !== undefined && pin !== ERASED && !PIN.test(pin) ? [doubtOf("customer.pin", EXPECTED_PIN, pin)] : []),
    ...(saleDate === undefined ? [] : dateDoubtsOf("saleDate", saleDate, startedAtMs)),
  ];
}

/**
 * As {@link doubtsOf}. A refund without a date is dated on the day on which it is asked for.
 * @param askedAtMs when the refund was asked for (Unix milliseconds)
 * @param saleDate of the sale's document, if it is known
 */
export function refundDoubtsOf(
  { returnDate }: { returnDate?: string | undefined },
  checks: InputChecks,
  askedAtMs: number,
  saleDate?: string | null,
): string[] {
  if (checks === "off" || returnDate === undefined) return [];
  const doubts = dateDoubtsOf("returnDate", returnDate, askedAtMs);
  // A sale that is dated in the future by mistake can be credited today all the same.
  if (saleDate && returnDate < saleDate && returnDate < nairobiDate(askedAtMs))
    doubts.push(doubtOf("returnDate", `no day before the sale's date, ${saleDate}`, returnDate));
  return doubts;
}

function dateDoubtsOf(field: string, date: string, nowMs: number): string[] {
  const first = nairobiDate(nowMs - PAST_DAYS * DAY_MS);
  const last = nairobiDate(nowMs + DAY_MS);
  return date < first || date > last ? [doubtOf(field, `a day from ${first} to ${last}`, date)] : [];
}

function doubtOf(field: string, expected: string, found: string): string {
  const odd = oddCharacters(found);
  return `${field}: expected ${expected}${FOUND}${plainJson(JSON.stringify(found))}${odd === "" ? "" : ` (${odd})`}`;
}

const FOUND = ", found ";

/** For a log, which holds no value of a customer. */
export function withoutValues(doubts: readonly string[]): string[] {
  return doubts.map((doubt) => doubt.split(FOUND, 1).join(""));
}

/** `character 1 is U+0410`: a Cyrillic А cannot be told from a Latin A by its looks. Empty where all are ASCII. */
export function oddCharacters(text: string): string {
  const odd = Array.from(text).flatMap((one, index) => {
    const code = one.codePointAt(0) ?? 0;
    const name = code.toString(16).toUpperCase().padStart(4, "0");
    return code < 0x20 || code > 0x7e ? [`character ${index + 1} is U+${name}`] : [];
  });
  return fewOf(odd, 3).join(", ");
}
