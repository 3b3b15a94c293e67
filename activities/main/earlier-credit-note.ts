import { ApplicationFailure } from "@temporalio/common";

import { type ConnectionProfile, type CreditNoteInput, FAILURES } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { numberTaken } from "../number-taken.ts";
import { lookedUpInTime } from "./looked-up-in-time.ts";

/**
 * Looks whether the number was used for the credit note of another sale.
 * @throws ApplicationFailure Conflict, where it was
 */
export type EarlierCreditNote = (profile: ConnectionProfile, note: CreditNoteInput) => Promise<void>;

/** What two of them ask for at once, or while the ledger is away, is left to the claim of the number. */
export function createEarlierCreditNote(ledger: Pick<Ledger, "records">): EarlierCreditNote {
  return async ({ connection, businessId }, { traderInvoiceNumber: number, saleId }) => {
    const kept = await lookedUpInTime((ms) => ledger.records.findCreditNote({ connection, businessId }, number, ms));
    const { record, sale = "a sale that is not in the ledger", writer } = kept ?? {};
    if (!record || !writer || (!record.document && !record.numberTaken)) return;
    const { originalSaleId } = record;
    if (originalSaleId === undefined || originalSaleId === saleId) return;
    const owner = { saleId: originalSaleId, sale, holder: `${writer.workflowId} (run ${writer.runId})` };
    throw ApplicationFailure.nonRetryable(
      `${numberTaken(number, owner)} Nothing was sent. Use another number.`,
      FAILURES.conflict,
    );
  };
}
