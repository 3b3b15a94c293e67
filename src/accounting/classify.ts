import { TransportError } from "../http/errors.ts";
import { parseHttpDateMs, parseRetryAfterSeconds } from "../http/quota-headers.ts";
import { AccountingApiError, AccountingInputError, AccountingUnexpectedAnswerError } from "./errors.ts";
import { ACCOUNTING_OPERATIONS, type AccountingOperationName } from "./operations.ts";

/**
 * What a call that threw means (docs/failure-model.md, "What each kind of trouble means").
 *
 * - `ok`: as the document says; a call that threw never means it
 * - `deferred`: refused by the quota, or kept back by ourselves: certainly nothing happened
 * - `configuration`: 401, 403
 * - `refused`: certainly nothing happened, and the same request would be refused again
 * - `transient`: a read that may be repeated
 * - `not-applied`: a write of which not a byte left
 * - `unknown`: a write that may have happened
 */
export type AccountingMeaning =
  | { kind: "ok" }
  | { kind: "deferred"; retryAfterMs?: number | undefined }
  | { kind: "configuration" }
  | { kind: "refused"; attention: "invalid-request" | "not-found" }
  | { kind: "transient" }
  | { kind: "not-applied" }
  | { kind: "unknown" };

export function classifyAccountingError(operation: AccountingOperationName, error: unknown): AccountingMeaning {
  const isRead = ACCOUNTING_OPERATIONS[operation].riskClass === "read";
  const lost: AccountingMeaning = { kind: isRead ? "transient" : "unknown" };
  if (error instanceof AccountingInputError) return { kind: "refused", attention: "invalid-request" };
  if (error instanceof AccountingApiError) {
    return ofStatus(error.status, millisecondsOf(error.meta.retryAfterSeconds)) ?? lost;
  }
  if (error instanceof AccountingUnexpectedAnswerError) return lost;
  if (!(error instanceof TransportError)) return lost;
  if (error.code === "held-back") return { kind: "deferred", retryAfterMs: error.retryAfterMs };
  if (error.sent === "no") return { kind: isRead ? "transient" : "not-applied" };
  const { answered } = error;
  // A 429 says all it has to say in its headers, so that a body that broke off takes nothing from it.
  if (answered?.status !== 429) return lost;
  const nowMs = parseHttpDateMs(answered.headers["date"]) ?? answered.atMs;
  return { kind: "deferred", retryAfterMs: millisecondsOf(parseRetryAfterSeconds(answered.headers, nowMs)) };
}

/**
 * Undefined: the status does not prove that nothing happened. A 408 may be a proxy's, which has passed the request on.
 */
function ofStatus(status: number, retryAfterMs: number | undefined): AccountingMeaning | undefined {
  if (status === 429) return { kind: "deferred", retryAfterMs };
  if (status === 401 || status === 403) return { kind: "configuration" };
  if (status === 404) return { kind: "refused", attention: "not-found" };
  if (status === 408 || status >= 500) return undefined;
  return { kind: "refused", attention: "invalid-request" };
}

function millisecondsOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}
