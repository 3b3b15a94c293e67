import { differingFields, type SaleContent } from "./fingerprint.ts";

/** What whoever asked for other content under a number can do. */
export const INSTEAD_OF_OTHER_CONTENT =
  "If you mean that sale, start it with the content that it has; if yours is another sale, use another number. If that sale is wrong, cancel it before it is signed, and start the right one under another number; once it is signed, correct it (`correct` of the client, `fiscalflow sale correct`).";

/** What is said where only the fingerprints of two sales of one number are known. */
export function otherContent(invoice: string): string {
  return `The number ${invoice} belongs to another sale, with other content. Compared are the date, the payment type, the customer, the branch, the id of an adopted sale and, line by line, item, quantity and unit price. What the first sale has: fiscalflow sale show ${invoice}. Nothing was started. ${INSTEAD_OF_OTHER_CONTENT}`;
}

/** A message stays readable: of more lines it says how many. */
const MOST_LINES = 5;

const FIELDS = {
  businessId: "the business",
  traderInvoiceNumber: "the number",
  saleDate: "the date",
  paymentTypeCode: "the payment type",
  saleId: "the id of the adopted sale",
  branch: "the branch",
} as const;

const CUSTOMER_PARTS = { name: "name", pin: "PIN", phone: "telephone", email: "e-mail" } as const;

const LINE_PARTS = { item: "item", quantity: "quantity", unitPrice: "unit price" } as const;

/**
 * What was asked for where it is not what the number's first sale has: `line 2: quantity 3, before 2`. Of a customer
 * the parts alone: an error is logged, and shown to others.
 */
export function differencesInWords(known: SaleContent, asked: SaleContent): string[] {
  const fields = keysOf(FIELDS).filter((key) => known[key] !== asked[key]);
  const found = fields.map((key) => changed(FIELDS[key], known[key], asked[key]));
  const parts = keysOf(CUSTOMER_PARTS).filter(
    (key) => (known.customer?.[key] ?? null) !== (asked.customer?.[key] ?? null),
  );
  if (parts.length > 0) found.push(`the customer (${parts.map((key) => CUSTOMER_PARTS[key]).join(", ")})`);
  const ofLines = differingFields(known, asked).flatMap((field) => /^lines\[(\d+)\]/.exec(field)?.[1] ?? []);
  const lines = [...new Set(ofLines)];
  found.push(...lines.slice(0, MOST_LINES).map((index) => ofLine(known, asked, Number(index))));
  if (lines.length > MOST_LINES) found.push(`and ${lines.length - MOST_LINES} more lines`);
  return found;
}

/** `the date: 2026-11-21, before 2026-11-20` */
export function changed(what: string, known: string | null | undefined, asked: string | null | undefined): string {
  return `${what}: ${asked ?? "none"}, before ${known ?? "none"}`;
}

function ofLine(known: SaleContent, asked: SaleContent, index: number): string {
  const [was, is] = [known.lines[index], asked.lines[index]];
  const name = `line ${index + 1}`;
  if (!was) return `${name}, which it does not have`;
  if (!is) return `${name}, which is missing`;
  const parts = keysOf(LINE_PARTS).filter((key) => was[key] !== is[key]);
  return `${name}: ${parts.map((key) => `${LINE_PARTS[key]} ${is[key]}, before ${was[key]}`).join("; ")}`;
}

function keysOf<Key extends string>(object: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(object) as Key[];
}
