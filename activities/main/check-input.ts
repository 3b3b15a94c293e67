import { log } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import {
  type ConnectionProfile,
  FAILURES,
  type InputChecks,
  type InvalidInputDetails,
  invalidInputInWords,
  type SaleContent,
  withoutValues,
} from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { ownClaim } from "./earlier-run.ts";

/**
 * Refuses a sale that looks wrong, or warns of it in the log.
 * @throws ApplicationFailure InvalidInput; LedgerUnavailableError where it cannot be known whether the sale is new: it
 * is asked again, and nothing is sent meanwhile
 */
export async function checkInput(
  { records, documents }: Pick<Ledger, "records" | "documents">,
  { connection, businessId }: ConnectionProfile,
  { traderInvoiceNumber: number }: SaleContent,
  { doubts, mode }: { doubts: readonly string[]; mode: InputChecks["mode"] },
): Promise<void> {
  if (mode === "refuse") {
    const kept = await records.findSale({ connection, businessId }, number);
    const isKnown = kept?.record.document || kept?.record.numberTaken || (await ownClaim(documents)).isSent;
    if (!isKnown) throw invalid("sale input", doubts);
  }
  log.warn(`The sale ${number} looks wrong, and goes on: ${withoutValues(doubts).join("; ")}`);
}

/** With all problems in one message. */
export function invalid(what: string, problems: readonly string[]): ApplicationFailure {
  const details: InvalidInputDetails = { what, problems };
  return ApplicationFailure.nonRetryable(invalidInputInWords(details), FAILURES.invalidInput, details);
}
