import { log } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import {
  FAILURES,
  type InputChecks,
  type InvalidInputDetails,
  invalidInputInWords,
  withoutValues,
} from "../../src/contract/index.ts";
import type { KeptSale } from "../../src/ledger/index.ts";

/**
 * Refuses a sale that looks wrong, or warns of it in the log.
 * @param known what the ledger has of the number: what was sent goes on
 * @throws ApplicationFailure InvalidInput
 */
export function checkInput(
  number: string,
  known: KeptSale | undefined,
  { doubts, mode }: { doubts: readonly string[]; mode: InputChecks["mode"] },
): void {
  const { document, numberTaken, replaces } = known?.record ?? {};
  // A corrected sale was looked at before the sale was credited that it replaces.
  const isKnown = document || numberTaken || replaces !== undefined;
  if (mode === "refuse" && !isKnown) throw invalid("sale input", doubts);
  log.warn(`The sale ${number} looks wrong, and goes on: ${withoutValues(doubts).join("; ")}`);
}

/** With all problems in one message. */
export function invalid(what: string, problems: readonly string[]): ApplicationFailure {
  const details: InvalidInputDetails = { what, problems };
  return ApplicationFailure.nonRetryable(invalidInputInWords(details), FAILURES.invalidInput, details);
}
