import {
  type Client,
  isGrpcDeadlineError,
  isGrpcServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";

import { NoAnswerError } from "./errors.ts";

/** A workflow answers a message within seconds, unless no worker runs: then nobody should wait for it. */
const ANSWER_WITHIN_MS = 30_000;
/** gRPC's FAILED_PRECONDITION: a query finds no worker. */
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;

/** @throws NoAnswerError where no worker answers */
export async function answeredInTime<T>(client: Client, workflowId: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, ask);
  } catch (error) {
    throw isWithoutAnswer(error) ? new NoAnswerError(workflowId, error) : error;
  }
}

/** Whether nobody was there to answer: no worker, or for a while no server. What was asked is harmless to ask again. */
export function isWithoutAnswer(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) return true;
  const cause = error instanceof Error ? error.cause : undefined;
  if (isGrpcDeadlineError(cause)) return true;
  return [error, cause].some(
    (one) => isGrpcServiceError(one) && [FAILED_PRECONDITION, UNAVAILABLE].includes(Number(one.code)),
  );
}
