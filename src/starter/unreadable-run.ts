import type { Client } from "@temporalio/client";

import { endedInWords, type ClosedRun } from "../contract/closed-run.ts";
import type { FoundSale } from "../contract/find-sale.ts";
import { SaleFailedError, SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";

/**
 * What the ledger keeps of a sale whose run cannot be read.
 * @throws SaleFailedError where it keeps nothing; NoAnswerError, LedgerAwayError
 */
export async function fromLedgerInstead(
  client: Client,
  key: SaleKey,
  closed: ClosedRun | undefined,
): Promise<FoundSale> {
  try {
    return await findClosedSale(client, key);
  } catch (error) {
    if (!(error instanceof SaleNotFoundError)) throw error;
    const how = closed ? endedInWords(closed) : "has ended";
    const message = `The workflow ${saleIdOf(key)} ${how}, no worker began it or can replay its history, and the ledger keeps nothing of it. Its events are in Temporal's UI${closed ? "; a restart carries it on" : ""}.`;
    throw new SaleFailedError(message, { cause: error });
  }
}
