import { ApplicationFailure, type Client, TimeoutFailure, WorkflowFailedError } from "@temporalio/client";

import { FAILURES } from "../contract/errors.ts";
import { type FindSaleInput, findSaleInputSchema } from "../contract/schema/sale.ts";
import type { FindSaleResult, FoundSale } from "../contract/records.ts";
import { findSaleWorkflowId } from "../contract/ids.ts";
import { DEFAULT_CONNECTION, WORKFLOW_TYPES } from "../contract/names.ts";
import { parseInput } from "../contract/schema/parse-input.ts";
import { LedgerAwayError, SaleNotFoundError, workflowError } from "./errors.ts";
import { NoAnswerError, questionToLedger } from "./no-answer.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";
import { askLedger } from "./start-question.ts";

/** Long enough for a busy worker, and for the ledger to be tried; short enough for somebody who waits. */
const ANSWER_WITHIN_MS = 15_000;

/**
 * The sale as the ledger keeps it, for whoever has learned that Temporal does not know its workflow. A short workflow
 * asks, so that a caller needs no database.
 * @param key with the business filled in, as the sale's workflow id has it
 * @throws SaleNotFoundError where the ledger does not know it either, or knows the number as a credit note's
 * @throws NoAnswerError, LedgerAwayError, TemporalUnavailableError within 20 seconds
 * @throws InvalidInputError for a key that names no sale, or a connection that no worker has
 */
export async function findClosedSale(client: Client, key: SaleKey): Promise<FoundSale> {
  const { invoice, connection = DEFAULT_CONNECTION, businessId } = key;
  const input: FindSaleInput = parseInput(
    findSaleInputSchema,
    { connection, ...(businessId !== undefined && { businessId }), traderInvoiceNumber: invoice },
    "name of the sale",
  );
  const about = `about sale ${invoice}`;
  const workflowId = findSaleWorkflowId({ connection, businessId, traderInvoiceNumber: invoice });
  try {
    const { found, creditNoteOf } = await askLedger<FindSaleInput, FindSaleResult>(client, WORKFLOW_TYPES.findSale, {
      workflowId,
      input,
      connection,
      businessId,
      about,
      executionTimeout: "30 seconds",
      answerWithinMs: ANSWER_WITHIN_MS,
    });
    if (found) return found;
    if (creditNoteOf !== undefined) throw SaleNotFoundError.creditNote(saleIdOf(key), invoice, creditNoteOf);
  } catch (error) {
    throw lookUpError(saleIdOf(key), about, error);
  }
  throw SaleNotFoundError.inLedger(saleIdOf(key));
}

function lookUpError(saleId: string, about: string, error: unknown): unknown {
  if (!(error instanceof WorkflowFailedError)) return error;
  const { cause } = error;
  if (cause instanceof TimeoutFailure) return NoAnswerError.to(questionToLedger(about), cause);
  if (cause instanceof ApplicationFailure && cause.type === FAILURES.ledgerAway)
    return new LedgerAwayError(saleId, cause);
  return workflowError(cause ?? error);
}
