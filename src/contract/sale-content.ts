import { givenText } from "./documents.ts";
import type { CustomerInput, SaleFields, SaleLineInput } from "./schema/sale.ts";
import { sha256Hex } from "./sha256.ts";

/**
 * What reaches the document. Options
 * such as `stock`, `callback`, `refundWindow` and `expectedTotal` do not count.
 */
export interface SaleContent {
  businessId: string | null;
  traderInvoiceNumber: string;
  saleDate: string | null;
  paymentTypeCode: string | null;
  customer: { name: string | null; pin: string | null; phone: string | null; email: string | null } | null;
  lines: { item: string; quantity: number; unitPrice: number }[];
  saleId: string | null;
  branch: string | null;
}

/** The content in one normal form, kept in the workflow's memo. */
export function saleContent(input: SaleFields, businessId: string | undefined): SaleContent {
  return {
    businessId: businessId ?? null,
    traderInvoiceNumber: input.traderInvoiceNumber,
    saleDate: givenText(input.saleDate),
    paymentTypeCode: givenText(input.paymentTypeCode),
    customer: customerContent(input.customer),
    lines: (input.lines ?? []).map((line) => ({
      item:
        line.itemId !== undefined
          ? `id:${line.itemId}`
          : line.externalId !== undefined
            ? `externalId:${line.externalId}`
            : `sku:${line.sku ?? ""}`,
      quantity: line.quantity,
      unitPrice: line.unitPrice,
    })),
    saleId: input.saleId ?? null,
    branch: input.branch ?? null,
  };
}

/** The sale that has this content, and no options. */
export function saleOfContent({ traderInvoiceNumber, customer, lines, ...fields }: SaleContent): SaleFields {
  const given = <T extends object>(some: T) =>
    Object.fromEntries(Object.entries(some).filter(([, value]) => value !== null)) as {
      [Field in keyof T]?: NonNullable<T[Field]>;
    };
  return {
    ...given(fields),
    traderInvoiceNumber,
    ...(customer && { customer: given(customer) }),
    ...(lines.length > 0 && { lines: lines.map(lineOfContent) }),
  };
}

function lineOfContent({ item, quantity, unitPrice }: SaleContent["lines"][number]): SaleLineInput {
  const colon = item.indexOf(":");
  const name = item.slice(colon + 1);
  const kind = item.slice(0, colon);
  const named = kind === "id" ? { itemId: name } : kind === "sku" ? { sku: name } : { externalId: name };
  return { ...named, quantity, unitPrice };
}

/** A customer of whom nothing is given is not sent, and so is none. */
function customerContent(customer: CustomerInput = {}): SaleContent["customer"] {
  const content = {
    name: givenText(customer.name),
    pin: givenText(customer.pin),
    phone: givenText(customer.phone),
    email: givenText(customer.email),
  };
  return Object.values(content).some((part) => part !== null) ? content : null;
}

/** 64 hex digits; equal for equal contents. */
export function fingerprintOf(content: SaleContent): string {
  return sha256Hex(JSON.stringify(content));
}

/**
 * The fields in which what is asked for differs from what is known, as whoever asks calls them: `customer.pin`,
 * `lines[1].quantity`. What only one of the two has is named as a whole.
 */
export function differingFields(known: SaleContent, asked: SaleContent): string[] {
  const { customer, lines, ...fields } = asked;
  const { customer: knownCustomer, lines: knownLines, ...knownFields } = known;
  const found = differingParts(knownFields, fields);
  found.push(...within("customer", knownCustomer, customer));
  for (let i = 0; i < Math.max(knownLines.length, lines.length); i++) {
    const [kind = ""] = lines[i]?.item.split(":") ?? [];
    const parts = within(`lines[${i}]`, knownLines[i], lines[i]);
    found.push(...parts.map((part) => part.replace(/\.item$/, `.${kind === "id" ? "itemId" : kind}`)));
  }
  return found;
}

function within(name: string, known: object | null | undefined, asked: object | null | undefined): string[] {
  if (known && asked) return differingParts(known, asked).map((part) => `${name}.${part}`);
  return known || asked ? [name] : [];
}

/** A content that was kept may come back with its keys in another order. */
function differingParts(known: object, asked: object): string[] {
  const before = new Map<string, unknown>(Object.entries(known));
  return Object.entries(asked).flatMap(([part, value]) => ((before.get(part) ?? null) === value ? [] : [part]));
}

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
