import { z } from "zod";

import type { SyncPurchasesInput } from "../purchases-sync.ts";
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
