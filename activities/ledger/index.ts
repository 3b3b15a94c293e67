import type { LedgerActivities } from "../../src/contract/index.ts";
import { createBatchLedgerActivities } from "./batches.ts";
import { createDocumentClaimActivities, createRecordActivities } from "./documents.ts";
import {
  createBillPaymentLedgerActivities,
  createPurchaseLedgerActivities,
  createReconcileLedgerActivities,
  createRegistrationActivities,
} from "./jobs.ts";
import { createMovementActivities, type LedgerContext } from "./movements.ts";

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
