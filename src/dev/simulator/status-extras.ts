import { z } from "zod";

const text = z.string().nullable().optional();

/**
 * What goes with a status set by hand: the error of a failed document, or changes to the receipt of a completed one.
 */
export const statusExtrasSchema = z.strictObject({
  error: text,
  receipt: z
    .strictObject({
      cuInvoiceNo: text,
      receiptNumber: z.number().int().nullable().optional(),
      receiptLabel: text,
      scuId: text,
      scuDate: text,
      scuTime: text,
      totalReceiptCounter: text,
      signature: text,
      internalData: text,
      verificationUrl: text,
      originalCuInvoiceNo: text,
    })
    .nullable()
    .optional(),
});
