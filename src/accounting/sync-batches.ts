import { z } from "zod";
import { bodyOf } from "../http/read-body.ts";
import {
  type AccountingCallOptions,
  type AccountingContext,
  type AccountingResult,
  callAccounting,
  pathSegment,
} from "./call-operation.ts";
import { ACCOUNTING_OPERATIONS } from "./operations.ts";

export interface ProcessedBatch {
  /** The service's own words. */
  message: string;
}

const readProcessed = bodyOf(z.looseObject({ message: z.string() }), ({ message }): ProcessedBatch => ({ message }));

/**
 * POST /sync/batches/{syncBatchId}/process, without a body. What processing does is not shown, nor that it may be asked
 * for twice: sent once, on a connection of its own.
 */
export async function processSyncBatch(
  context: AccountingContext,
  syncBatchId: string,
  options: AccountingCallOptions = {},
): Promise<AccountingResult<ProcessedBatch>> {
  const operation = ACCOUNTING_OPERATIONS.processSyncBatch;
  const path = operation.path.replace("{syncBatchId}", () => pathSegment(syncBatchId));
  return callAccounting(context, operation, { path }, readProcessed, options);
}
