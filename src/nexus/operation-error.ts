import { ApplicationFailure } from "@temporalio/client";
import { HandlerError } from "nexus-rpc";

import { type ErrorCode, FiscalflowError } from "../contract/errors.ts";

/** Codes of errors that the same call would meet again, however often it is repeated. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  "InvalidInput",
  "UnknownConnection",
  "UnknownBusiness",
  "Conflict",
  "NotFound",
  "NotAllowed",
  "Failed",
]);

export function isFinalError(error: unknown): error is FiscalflowError {
  return error instanceof FiscalflowError && FINAL.has(error.code);
}

/**
 * An error of the starter as Nexus has it. The cause is an application failure whose type is the error's code, as a
 * workflow would answer with. Never of type `CONFLICT`, which Temporal 1.29 takes for an internal error: it repeats
 * the call until the operation's time is up, and holds back other calls of the endpoint meanwhile.
 */
export function operationError(error: unknown): unknown {
  if (error instanceof HandlerError) return error;
  if (isFinalError(error)) {
    const cause = ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: true });
    return new HandlerError(
      error.code === "NotFound" ? "NOT_FOUND" : "BAD_REQUEST",
      `${error.code}: ${error.message}`,
      {
        cause,
        retryableOverride: false,
      },
    );
  }
  const message = error instanceof Error ? error.message : String(error);
  return new HandlerError("UNAVAILABLE", message, { cause: error, retryableOverride: true });
}
