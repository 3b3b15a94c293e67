import { z } from "zod";

import { NAME_PATTERN } from "../names.ts";
import type { SaleInput, SaleLineInput } from "../sale.ts";
import { calendarDate } from "./calendar-date.ts";
import { duration } from "./duration.ts";
import { invoiceNumber, printableText } from "./text.ts";

export const connectionName = z
  .string()
  .regex(NAME_PATTERN, { error: "expected the name of a connection: 1 to 32 of a-z, 0-9 and -" });

/** Temporal refuses fairness keys over 64 bytes, for ever, and the business is one. */
export const businessIdentifier = printableText(64).refine((text) => Buffer.byteLength(text) <= 64, {
  error: "expected at most 64 bytes",
});

const identifier = printableText(200);

const finite = z.number({ error: "expected a finite number" });

const LINE_KEYS = ["itemId", "externalId", "sku"] as const;

const line = z
  .strictObject({
    itemId: identifier.optional(),
    externalId: identifier.optional(),
    sku: identifier.optional(),
    quantity: finite.positive({ error: "expected a number greater than 0" }),
    unitPrice: finite.nonnegative({ error: "expected a number of at least 0" }),
  })
  .superRefine((value, context) => {
    const given = LINE_KEYS.filter((key) => value[key] !== undefined);
    if (given.length !== 1) {
      context.addIssue({
        code: "custom",
        message: `expected the item to be named by exactly one of itemId, externalId and sku, found ${given.length === 0 ? "none" : given.join(" and ")}`,
      });
    }
  }) satisfies z.ZodType<SaleLineInput>;

const customer = z.strictObject({
  name: printableText(200).optional(),
  pin: printableText(50).optional(),
  phone: printableText(50).optional(),
  email: printableText(320).optional(),
});

/** Input of the `sale` workflow; the same schema at every edge and in the workflow's first activity. */
export const saleInputSchema = z
  .strictObject({
    connection: connectionName.optional(),
    businessId: businessIdentifier.optional(),
    branch: identifier.optional(),
    traderInvoiceNumber: invoiceNumber(1000),
    saleDate: calendarDate.optional(),
    paymentTypeCode: printableText(50).optional(),
    customer: customer.optional(),
    lines: z
      .array(line, { error: "expected a list of lines" })
      .min(1, { error: "expected at least one line" })
      .max(1000, { error: "expected at most 1000 lines" })
      .optional(),
    saleId: identifier.optional(),
    expectedTotal: finite.optional(),
    stock: z.enum(["on-submission", "on-completion", "off"]).optional(),
    callback: z.enum(["auto", "off"]).optional(),
    refundWindow: duration.optional(),
  })
  .superRefine((sale, context) => {
    if (sale.saleId !== undefined) return;
    if (sale.lines === undefined) {
      context.addIssue({
        code: "custom",
        path: ["lines"],
        message: "expected at least one line (only a sale adopted by saleId may come without)",
      });
    }
    const characters = Array.from(sale.traderInvoiceNumber).length;
    if (characters > 50) {
      context.addIssue({
        code: "custom",
        path: ["traderInvoiceNumber"],
        message: `expected at most 50 characters, found ${characters}`,
      });
    }
  }) satisfies z.ZodType<SaleInput>;
