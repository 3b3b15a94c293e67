import { z } from "zod";

import type { SyncBillPaymentsInput } from "../bill-payments-sync.ts";
import type { SyncPurchasesInput } from "../purchases-sync.ts";
import type { ProcessSyncBatchInput } from "../sync-batch.ts";
import { calendarDate } from "./calendar-date.ts";
import { businessIdentifier, connectionName } from "./sale-input.ts";

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
  }) satisfies z.ZodType<SyncPurchasesInput>;

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
  .refine((id) => id !== "." && id !== ".." && !/[\uD800-\uDFFF]/u.test(id), "expected the id of a sync batch");

/** Input of the `processSyncBatch` workflow. */
export const processSyncBatchInputSchema = z.strictObject({
  connection: connectionName.optional(),
  syncBatchId: syncBatchIdentifier,
}) satisfies z.ZodType<ProcessSyncBatchInput>;
