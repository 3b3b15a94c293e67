import { z } from "zod";

import { MOST_NAMED_ITEMS, type RegisterItemsInput } from "../item-registration.ts";
import { CURRENCY_PATTERN, INVOICE_NUMBER_FIELDS, type ReconcileInput, SUPPLIER_RULES } from "../reconcile.ts";
import type { ProcessSyncBatchInput } from "../sync-batch.ts";
import type { SyncBillPaymentsInput, SyncPurchasesInput } from "../synced.ts";
import { calendarDate } from "./calendar-date.ts";
import { businessIdentifier, connectionName } from "./sale-input.ts";
import { printableText } from "./text.ts";

/** A name of an item: its id, external id or SKU. */
export const itemName = printableText(200);

/** Input of the `registerItems` workflow. */
export const registerItemsInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  items: z
    .array(itemName)
    .min(1, { error: "expected at least one item; leave items out for the whole catalogue" })
    .max(MOST_NAMED_ITEMS, {
      error: `expected at most ${MOST_NAMED_ITEMS} items; leave items out for the whole catalogue`,
    })
    .optional(),
  branch: printableText(200).optional(),
  force: z.boolean().optional(),
}) satisfies z.ZodType<RegisterItemsInput>;

/** Input of the `syncPurchases` workflow. */
export const syncPurchasesInputSchema = z
  .strictObject({
    connection: connectionName.optional(),
    businessId: businessIdentifier.optional(),
    from: calendarDate.optional(),
    full: z.boolean().optional(),
  })
  .refine(({ from, full }) => from === undefined || full !== true, {
    path: ["from"],
    error: "expected either from or full, found both: a full synchronisation reads the whole list",
  })
  .meta({
    not: { required: ["from", "full"], properties: { full: { const: true } } },
  }) satisfies z.ZodType<SyncPurchasesInput>;

export const currencyCode = z
  .string()
  .regex(CURRENCY_PATTERN, { error: "expected a currency of three capital letters (ISO 4217)" });

/** Input of the `reconcile` workflow. */
export const reconcileInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  accounting: connectionName.optional(),
  rule: z
    .strictObject({
      invoiceNumberIn: z.enum(INVOICE_NUMBER_FIELDS).optional(),
      supplier: z.enum(SUPPLIER_RULES).optional(),
      currency: currencyCode.optional(),
    })
    .optional(),
}) satisfies z.ZodType<ReconcileInput>;

/** Input of the `syncBillPayments` workflow. */
export const syncBillPaymentsInputSchema = z.strictObject({
  connection: connectionName.optional(),
  full: z.boolean().optional(),
}) satisfies z.ZodType<SyncBillPaymentsInput>;

/** Longer than any id that was seen, and short enough for a path. */
const LONGEST_BATCH_ID = 500;

/** The id of a sync batch: a segment of a path, which `.` and `..` are not. */
export const syncBatchIdentifier = z
  .string({ error: "expected the id of a sync batch" })
  .refine((id) => id.length >= 1 && id.length <= LONGEST_BATCH_ID, `expected 1 to ${LONGEST_BATCH_ID} characters`)
  .refine((id) => id !== "." && id !== ".." && !/[\uD800-\uDFFF]/u.test(id), "expected the id of a sync batch")
  .meta({ minLength: 1, maxLength: LONGEST_BATCH_ID, not: { enum: [".", ".."] } });

/** Input of the `processSyncBatch` workflow. */
export const processSyncBatchInputSchema = z.strictObject({
  connection: connectionName.optional(),
  syncBatchId: syncBatchIdentifier,
}) satisfies z.ZodType<ProcessSyncBatchInput>;
