import type { LedgerActivities } from "../../src/contract/index.ts";
import { createBatchLedgerActivities } from "./batches.ts";
import { createBillPaymentLedgerActivities } from "./bill-payments.ts";
import { createDocumentClaimActivities } from "./documents.ts";
import { createRegistrationActivities } from "./registrations.ts";
import { createPurchaseLedgerActivities } from "./purchases.ts";
import { createMovementActivities, type LedgerContext } from "./movements.ts";
import { createReconcileLedgerActivities } from "./reconcile.ts";
import { createRecordActivities } from "./records.ts";

/** The activities that read and write the ledger: no API call. */
export function createLedgerActivities(context: LedgerContext): LedgerActivities {
  return {
    ...createMovementActivities(context),
    ...createDocumentClaimActivities(context),
    ...createPurchaseLedgerActivities(context),
    ...createRecordActivities(context),
    ...createReconcileLedgerActivities(context),
    ...createBillPaymentLedgerActivities(context),
    ...createBatchLedgerActivities(context),
    ...createRegistrationActivities(context),
  };
}
