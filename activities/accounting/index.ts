import type { AccountingActivities } from "../../src/contract/index.ts";
import { createAccountingWaitActivities } from "./await-accounting.ts";
import { createBillPaymentActivities } from "./bill-payments.ts";
import type { AccountingContext } from "./runtime.ts";
import { createSyncBatchActivities } from "./sync-batches.ts";

export type { AccountingContext, AccountingRuntime, KeyStandingWatch } from "./runtime.ts";

/** The activities of an accounting connection's task queue: one HTTP request each, at most. */
export function createAccountingActivities(context: AccountingContext): AccountingActivities {
  return {
    ...createBillPaymentActivities(context),
    ...createSyncBatchActivities(context),
    ...createAccountingWaitActivities(context),
  };
}
