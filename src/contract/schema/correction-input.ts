import { z } from "zod";

import type { CorrectedSaleInput, CorrectionInput } from "../correction.ts";
import { DEFAULT_CONNECTION } from "../names.ts";
import { calendarDate } from "./calendar-date.ts";
import { refundReason } from "./refund-request.ts";
import { always, businessIdentifier, connectionName, saleInputSchema } from "./sale-input.ts";
import { invoiceNumber } from "./text.ts";

const { saleId: _adopted, lines, ...shape } = saleInputSchema.shape;

/** As a sale that is issued, and never one that is adopted. */
const correctedSale = z.strictObject({
  ...shape,
  traderInvoiceNumber: invoiceNumber(50),
  lines: lines.unwrap(),
}) satisfies z.ZodType<CorrectedSaleInput>;

/** Input of the `correctSale` workflow. */
export const correctionInputSchema = z
  .strictObject({
    connection: connectionName.optional(),
    businessId: businessIdentifier.optional(),
    invoice: invoiceNumber(1000),
    reason: refundReason,
    creditNote: invoiceNumber(50),
    returnDate: calendarDate.optional(),
    sale: correctedSale,
  })
  .superRefine(({ invoice, creditNote, connection = DEFAULT_CONNECTION, businessId, sale }, context) => {
    if (creditNote === invoice)
      context.addIssue({
        code: "custom",
        path: ["creditNote"],
        message: "expected another number than that of the sale that it corrects",
      });
    if (typeof sale !== "object" || sale === null) return;
    const complain = (field: string, message: string): void => {
      context.addIssue({ code: "custom", path: ["sale", field], message });
    };
    if (sale.traderInvoiceNumber === invoice)
      complain("traderInvoiceNumber", "expected another number than that of the sale that it corrects");
    if (sale.traderInvoiceNumber === creditNote)
      complain("traderInvoiceNumber", "expected another number than that of the credit note");
    if (sale.connection !== undefined && sale.connection !== connection)
      complain("connection", `expected ${connection}, as of the sale that it corrects`);
    if (sale.businessId !== undefined && businessId !== undefined && sale.businessId !== businessId)
      complain("businessId", `expected ${businessId}, as of the sale that it corrects`);
  }, always) satisfies z.ZodType<CorrectionInput>;
