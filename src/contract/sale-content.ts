import { givenText } from "./documents.ts";
import type { CustomerInput, SaleFields, SaleLineInput } from "./schema/sale.ts";
import { sha256Hex } from "./ids.ts";
import { fewOf } from "./plain-text.ts";

/** Stands where something about a customer was erased from the ledger: nobody knows any more what it was. */
export const ERASED = "[erased]";

/** Without options such as `stock`, `callback`, `refundWindow` and `expectedTotal`, which do not reach the document. */
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

/** One normal form, kept in the workflow's memo. */
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

/** Whether something of the customer was erased: any value counts as the same. */
export function isCustomerErased({ customer }: SaleContent): boolean {
  return Object.values(customer ?? {}).includes(ERASED);
}

type Told = string | number | null | undefined;

interface Difference {
  /** As the caller calls it: `customer.pin`, `lines[1].quantity`. What only one of the two has is named as a whole. */
  field: string;
  known: Told;
  asked: Told;
}

function differences(known: SaleContent, asked: SaleContent): Difference[] {
  const { customer, lines, ...fields } = asked;
  const found = [...within("", known, fields), ...within("customer", known.customer, customer)];
  for (let i = 0; i < Math.max(known.lines.length, lines.length); i++)
    found.push(...within(`lines[${i}]`, known.lines[i], lines[i]));
  return found;
}

/** A content that was kept may come back with its keys in another order. */
function within(name: string, known: object | null | undefined, asked: object | null | undefined): Difference[] {
  if (!known && !asked) return [];
  if (!known || !asked) return [{ field: name, known: known ? "a line" : null, asked: asked ? "a line" : null }];
  const before = new Map<string, Told>(Object.entries(known));
  return Object.entries<Told>({ ...asked }).flatMap(([part, value]) => {
    const was = before.get(part) ?? null;
    if (was === value || was === ERASED) return [];
    const kind = part === "item" ? String(value).split(":")[0] : part;
    return [{ field: [name, kind === "id" ? "itemId" : kind].filter(Boolean).join("."), known: was, asked: value }];
  });
}

export function differingFields(known: SaleContent, asked: SaleContent): string[] {
  return differences(known, asked).map(({ field }) => field);
}

/** `lines[1].quantity: 3, before 2`. Of a customer the fields alone: an error is logged, and shown to others. */
export function differencesInWords(known: SaleContent, asked: SaleContent): string[] {
  const words = differences(known, asked).map((one) =>
    one.field.startsWith("customer") ? one.field : changed(one.field, one.known, one.asked),
  );
  return fewOf(words, 8);
}

export function changed(what: string, known: Told, asked: Told): string {
  return `${what}: ${asked ?? "none"}, before ${known ?? "none"}`;
}

export const INSTEAD_OF_OTHER_CONTENT =
  "If you mean that sale, start it with the content that it has; if yours is another sale, use another number. If that sale is wrong, cancel it before it is signed, and start the right one under another number; once it is signed, correct it (`correct` of the client, `fiscalflow sale correct`).";

export function otherContent(invoice: string): string {
  return `The number ${invoice} belongs to another sale, with other content. Compared are the date, the payment type, the customer, the branch, the id of an adopted sale and, line by line, item, quantity and unit price. What the first sale has: fiscalflow sale show ${invoice}. Nothing was started. ${INSTEAD_OF_OTHER_CONTENT}`;
}
