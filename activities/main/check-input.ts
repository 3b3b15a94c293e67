import { Context, log } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import { type ConnectionProfile, FAILURES, type InputChecks, type SaleContent } from "../../src/contract/index.ts";
import { InvalidInputError } from "../../src/contract/schema/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";

/**
 * Refuses a sale that looks wrong, or warns of it in the log.
 * @throws ApplicationFailure InvalidInput; LedgerUnavailableError where it cannot be known whether the sale is new: it
 * is asked again, and nothing is sent meanwhile
 */
export async function checkInput(
  ledger: Pick<Ledger, "records" | "documents">,
  profile: ConnectionProfile,
  { traderInvoiceNumber: number }: SaleContent,
  { doubts, mode }: { doubts: readonly string[]; mode: InputChecks["mode"] },
): Promise<void> {
  if (mode === "refuse" && (await isNew(ledger, profile, number))) {
    const { message } = new InvalidInputError("sale input", doubts);
    throw ApplicationFailure.nonRetryable(message, FAILURES.invalidInput);
  }
  log.warn(`The sale ${number} looks wrong, and goes on: ${doubts.join("; ")}`);
}

/** A run that was terminated may have left a document behind: this one takes it over, whatever it looks like. */
async function isNew(
  { records, documents }: Pick<Ledger, "records" | "documents">,
  { connection, businessId }: ConnectionProfile,
  number: string,
): Promise<boolean> {
  const kept = await records.findSale({ connection, businessId }, number);
  if (kept?.record.document || kept?.record.numberTaken) return false;
  const workflowId = Context.current().info.workflowExecution?.workflowId;
  const claim = workflowId === undefined ? undefined : await documents.read(workflowId);
  return claim?.documentId === undefined && claim?.firstSentAtMs === undefined;
}
