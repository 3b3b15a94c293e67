import { z } from "zod";

import { redactDeep } from "./redact.ts";

/**
 * The answers of the Compliance API (Fiscal Compliance API, "Resources and their fields"). Loose: unknown keys are
 * kept. What the product decides upon is required; what it only passes on may be absent or null. The plain types of the
 * same objects are in `../contract/documents.ts`; `schemas.test.ts` proves that one is assignable to the other.
 */

const text = z.string().nullish();
/** Where an odd value must not cost the whole list: only `true` says that something is missing. */
const flag = z.boolean().optional().catch(undefined);

export const customerSchema = z.looseObject({ name: text, pin: text, phone: text, email: text });

export const saleLineSchema = z.looseObject({
  id: z.string(),
  itemId: z.string(),
  name: text,
  description: text,
  quantity: z.number(),
  unitPrice: z.number(),
  total: z.number(),
  taxableAmount: z.number(),
  taxAmount: z.number(),
  taxRate: z.number(),
  taxTypeCode: text,
});

export const receiptSchema = z.looseObject({
  cuInvoiceNo: text,
  receiptNumber: z.number().nullish(),
  receiptLabel: text,
  scuId: text,
  scuDate: text,
  scuTime: text,
  totalReceiptCounter: text,
  signature: text,
  internalData: text,
  verificationUrl: text,
  originalCuInvoiceNo: text,
});

/**
 * Without its `url`, and with no other URL besides its host: the path is a token that names a workflow to whoever has
 * it, and what is read here goes to histories, the ledger and callers.
 */
export const callbackSchema = z.preprocess(
  withoutUrl,
  z.looseObject({
    status: z.string(),
    event: text,
    attempts: z.number().optional(),
    lastAttemptAt: text,
    lastResponseStatus: z.number().nullish(),
    lastError: text,
    deliveredAt: text,
    nextAttemptAt: text,
  }),
);

/** A sale or a credit note. `status` stays a string: a word outside the six is for the classification to judge. */
export const saleSchema = z.looseObject({
  id: z.string().min(1),
  type: z.string(),
  status: z.string(),
  traderInvoiceNumber: z.string(),
  saleDate: text,
  paymentTypeCode: text,
  customer: customerSchema.nullish(),
  lines: z.array(saleLineSchema),
  totals: z.looseObject({ total: z.number(), taxableAmount: z.number(), taxAmount: z.number() }),
  receipt: receiptSchema.nullish(),
  originalSaleId: text,
  error: text,
  callback: callbackSchema.nullish(),
});

export const itemSchema = z.looseObject({
  id: z.string().min(1),
  externalId: text,
  name: text,
  sku: text,
  taxCategory: text,
  taxTypeCode: text,
  productTypeCode: text,
  classificationCode: text,
  unitCode: text,
  packagingUnitCode: text,
  unitPrice: z.number().nullish(),
  stockTracked: z.boolean(),
  registrationStatus: z.string(),
  needs: z.looseObject({ productType: flag, classificationMapping: flag }).nullish(),
});

export const purchaseSchema = z.looseObject({
  id: z.string().min(1),
  /** `pulled`, `pending_review`, `confirmed` or `rejected`. */
  status: z.string(),
  supplier: z.looseObject({ name: text, pin: text }),
  supplierInvoiceNumber: z.string(),
  /** `YYYY-MM-DD`. */
  invoiceDate: z.string(),
  /** The branch's name. */
  branch: text,
  totals: z.looseObject({ subtotal: z.number(), vat: z.number(), total: z.number() }),
  lines: z.array(
    z.looseObject({
      description: text,
      hsCode: text,
      quantity: z.number(),
      unitPrice: z.number(),
      taxRate: z.number(),
      taxAmount: z.number(),
      total: z.number(),
    }),
  ),
  confirmationError: text,
});

export type Purchase = z.infer<typeof purchaseSchema>;

export const saleAnswerSchema = z.looseObject({ data: z.looseObject({ sale: saleSchema }) });
export const itemAnswerSchema = z.looseObject({ data: z.looseObject({ item: itemSchema }) });
/** The rows of a list are read one by one: an odd one must not hide the others. */
export const itemsAnswerSchema = z.looseObject({ data: z.looseObject({ items: z.array(z.unknown()) }) });
export const purchasesAnswerSchema = z.looseObject({
  data: z.looseObject({ purchases: z.array(z.unknown()) }),
  pagination: z.looseObject({ nextCursor: z.string().min(1).nullable(), pageSize: z.number().optional() }),
});

function withoutUrl(callback: unknown): unknown {
  if (typeof callback !== "object" || callback === null) return callback;
  const { url: _url, ...delivery }: Record<string, unknown> = { ...callback };
  return redactDeep(delivery);
}
