import { givenText } from "./documents.ts";
import type { CustomerInput, SaleFields } from "./sale.ts";
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

/** The names of the fields in which two contents differ, lines by their position. */
export function differingFields(a: SaleContent, b: SaleContent): string[] {
  const fields: string[] = [];
  for (const key of Object.keys(a) as (keyof SaleContent)[]) {
    if (key !== "lines" && spelt(a[key]) !== spelt(b[key])) fields.push(key);
  }
  for (let i = 0; i < Math.max(a.lines.length, b.lines.length); i++) {
    if (spelt(a.lines[i]) !== spelt(b.lines[i])) fields.push(`lines[${i}]`);
  }
  return fields;
}

/** Whatever the order of its keys: a content that was kept may come back in another. */
function spelt(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
