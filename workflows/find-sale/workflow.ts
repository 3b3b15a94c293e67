import { type FindSaleInput, type FindSaleResult, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { askLedger } from "../job/question.ts";
import { main } from "../proxies.ts";

/**
 * Asks the ledger for a sale that Temporal no longer knows, so that a caller needs no database. Its caller bounds it by
 * an execution timeout: the answer is for somebody who waits.
 */
export async function findSale(input: FindSaleInput): Promise<FindSaleResult> {
  return await askLedger(WORKFLOW_TYPES.findSale, () => main.findSale("Ask the ledger for the sale", { input }));
}
