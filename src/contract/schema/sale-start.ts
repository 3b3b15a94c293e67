import { z } from "zod";

import type { FindSaleInput } from "../find-sale.ts";
import type { SaleStart } from "../sale.ts";
import { refundRequestSchema } from "./refund-request.ts";
import {
  always,
  businessIdentifier,
  checkNumber,
  connectionName,
  LONGEST_NUMBER,
  LONGEST_OWN_NUMBER,
  saleFields,
} from "./sale-input.ts";
import { invoiceNumber } from "./text.ts";

/** Input of the `sale` workflow, checked in its first activity: also what carries on a sale that the ledger has. */
export const saleStartSchema = saleFields
  .extend({ refund: refundRequestSchema.optional() })
  .superRefine(checkNumber, always)
  .meta({
    anyOf: [
      { required: ["saleId"] },
      { properties: { lines: false } },
      { properties: { traderInvoiceNumber: { maxLength: LONGEST_OWN_NUMBER } } },
    ],
  }) satisfies z.ZodType<SaleStart>;

/** Input of the `findSale` workflow: what names a sale. */
export const findSaleInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  traderInvoiceNumber: invoiceNumber(LONGEST_NUMBER),
}) satisfies z.ZodType<FindSaleInput>;
