import type { LedgerActivities } from "../../src/contract/index.ts";
import { createBatchLedgerActivities } from "./batches.ts";
import { createCorrectionActivities } from "./corrections.ts";
import { createDocumentActivities } from "./documents.ts";
import { createJobLedgerActivities } from "./jobs.ts";
import { createMovementActivities, type LedgerContext } from "./movements.ts";

/** The activities that read and write the ledger: no API call. Each fails while the ledger is away, to be retried. */
export function createLedgerActivities(context: LedgerContext): LedgerActivities {
  return {
    ...createMovementActivities(context),
    ...createDocumentActivities(context),
    ...createJobLedgerActivities(context),
    ...createBatchLedgerActivities(context),
    ...createCorrectionActivities(context),
  };
}
