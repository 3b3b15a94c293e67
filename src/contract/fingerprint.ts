import { givenText } from "./documents.ts";
import type { CustomerInput, SaleFields, SaleLineInput } from "./sale-fields.ts";
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
