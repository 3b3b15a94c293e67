import type { Client } from "@temporalio/client";

import { endedInWords, type ClosedRun } from "../contract/closed-run.ts";
import type { FoundSale } from "../contract/find-sale.ts";
import { SaleFailedError, SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import type { SaleKey } from "./sale-key.ts";

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
