import { z } from "zod";
import { MOST_NAMED_ITEMS } from "../jobs.ts";
import { calendarDate, printableText, SAYS_FOUND } from "./parse-input.ts";
import { businessIdentifier, connectionName } from "./sale.ts";
import { CURSOR_PATTERN, LONGEST_EVENT_WAIT_SECONDS } from "../events.ts";

/** A name of an item: its id, external id or SKU. */
export const itemName = printableText(200);

export const registerItemsInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  items: z
    .array(itemName)
    .min(1, { error: "expected at least one item; leave items out for the whole catalogue" })
    .max(MOST_NAMED_ITEMS, {
      error: `expected at most ${MOST_NAMED_ITEMS} items; leave items out for the whole catalogue`,
    })
    .optional()
    .describe("Ids, external ids or SKUs. Default: the whole catalogue."),
  branch: printableText(200)
    .optional()
    .describe("A branch's id or authorityBhfId. Default: the business's first branch."),
  force: z.boolean().optional().describe("Register again what the tax authority already has."),
});

export type RegisterItemsInput = z.infer<typeof registerItemsInputSchema>;

export const syncPurchasesInputSchema = z
  .strictObject({
    connection: connectionName.optional(),
    businessId: businessIdentifier.optional(),
    from: calendarDate.optional().describe("Only invoices of that day and later: the whole of that window is read."),
    full: z.boolean().optional().describe("The whole list, and what is not in it any more."),
  })
  .refine(({ from, full }) => from === undefined || full !== true, {
    ...SAYS_FOUND,
    path: ["from"],
    error: "expected either from or full, found both: a full synchronisation reads the whole list",
  })
  .meta({
    not: { required: ["from", "full"], properties: { full: { const: true } } },
  });

export type SyncPurchasesInput = z.infer<typeof syncPurchasesInputSchema>;

export const reconcileInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
});

export type ReconcileInput = z.infer<typeof reconcileInputSchema>;

export const syncBillPaymentsInputSchema = z.strictObject({
  connection: connectionName.optional(),
  full: z.boolean().optional().describe("Every payment, and what is not listed any more."),
});

export type SyncBillPaymentsInput = z.infer<typeof syncBillPaymentsInputSchema>;

const LONGEST_BATCH_ID = 500;

/** The id of a sync batch: a segment of a path, which `.` and `..` are not. */
export const syncBatchIdentifier = z
  .string({ error: "expected the id of a sync batch" })
  .refine((id) => id.length >= 1 && id.length <= LONGEST_BATCH_ID, `expected 1 to ${LONGEST_BATCH_ID} characters`)
  .refine((id) => id !== "." && id !== ".." && !/[\uD800-\uDFFF]/u.test(id), "expected the id of a sync batch")
  .meta({ minLength: 1, maxLength: LONGEST_BATCH_ID, not: { enum: [".", ".."] } });

export const processSyncBatchInputSchema = z.strictObject({
  connection: connectionName.optional(),
  syncBatchId: syncBatchIdentifier,
});

export type ProcessSyncBatchInput = z.infer<typeof processSyncBatchInputSchema>;

export const eventCursor = z
  .string()
  .regex(CURSOR_PATTERN, { error: "expected the cursor of an event, such as 120-3fa9c1d2e4b50718" });

export const readEventsInputSchema = z.strictObject({
  connection: connectionName.optional(),
  businessId: businessIdentifier.optional(),
  after: eventCursor.optional().describe("The events after it. Default: from the first."),
  waitSeconds: z
    .number()
    .min(0)
    .max(LONGEST_EVENT_WAIT_SECONDS)
    .optional()
    .describe("How long to wait where there is none yet. Default: 0."),
});

export type ReadEventsInput = z.infer<typeof readEventsInputSchema>;
