import { type Client, QueryNotRegisteredError } from "@temporalio/client";

import { endedInWords, type ClosedRun } from "../contract/closed-run.ts";
import type { FoundSale } from "../contract/find-sale.ts";
import { isOfRunNeverBegun, isWithoutAnswer } from "./answered-in-time.ts";
import { SaleFailedError, SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import type { SaleKey } from "./sale-key.ts";

/**
 * Whether a closed run cannot say anything: no worker had begun it, or its history does not replay on the code of the
 * workers, whether that has changed or the run was ended by a defect. Temporal's client takes any query that failed for
 * one that is not registered.
 */
export function isUnreadable(error: unknown): boolean {
  if (isOfRunNeverBegun(error)) return true;
  return error instanceof QueryNotRegisteredError && !isWithoutAnswer(error);
}

/**
 * What the ledger keeps of a sale whose run cannot be read.
 * @throws SaleFailedError where it keeps nothing; NoAnswerError, LedgerAwayError
 */
export async function fromLedgerInstead(
  client: Client,
  key: SaleKey,
  workflowId: string,
  closed: ClosedRun | undefined,
): Promise<FoundSale> {
  try {
    return await findClosedSale(client, key);
  } catch (error) {
    if (!(error instanceof SaleNotFoundError)) throw error;
    throw nothingKept(workflowId, closed, error);
  }
}

export function nothingKept(workflowId: string, closed: ClosedRun | undefined, cause?: unknown): SaleFailedError {
  const how = closed ? endedInWords(closed) : "has ended";
  const message = `The workflow ${workflowId} ${how}, no worker began it or can replay its history, and the ledger keeps nothing of it. Its events are in Temporal's UI${closed ? "; a restart carries it on" : ""}.`;
  return new SaleFailedError(message, { cause });
}
