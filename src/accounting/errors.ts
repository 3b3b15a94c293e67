import { saysAway, TransportError } from "../http/errors.ts";
import { field } from "../http/json.ts";
import { pauseInWords } from "../http/quota-headers.ts";
import type { HttpAnswer } from "../http/request.ts";
import {
  AnswerError,
  type AnswerMeta,
  CallInputError,
  deferralOf,
  excerpt,
  redact,
  retryAfterMsOf,
  UnexpectedAnswerError,
} from "../http/service-call.ts";
import { ACCOUNTING_OPERATIONS, type AccountingOperationName } from "./operations.ts";

/** An answer with a status of 400 or more. The shape of an error's body is not shown (Accounting Service, "Errors"). */
export class AccountingApiError extends AnswerError {
  override readonly name = "AccountingApiError" as const;
  readonly code = "api-error" as const;
  /**
   * With a 401 of a signed call: how far our clock was ahead of the service's when the call was signed, in milliseconds
   * (negative: behind). A hint, by the answer's Date, which counts whole seconds.
   */
  readonly clockAheadMs: number | undefined;

  constructor(message: string, meta: AnswerMeta, bodyExcerpt: string, clockAheadMs: number | undefined) {
    super(message, meta, bodyExcerpt);
    this.clockAheadMs = clockAheadMs;
  }

  get evidence(): Record<string, unknown> {
    const { bodyExcerpt, clockAheadMs } = this;
    return { ...(bodyExcerpt && { bodyExcerpt }), ...(clockAheadMs !== undefined && { clockAheadMs }) };
  }
}

/** "Limits": the timestamp of a signed request must be within five minutes of the service's time. */
const TIMESTAMP_TOLERANCE_MS = 5 * 60_000;
/** Date counts whole seconds, and an answer is under way for a while: less than this says nothing. */
const WORTH_SAYING_MS = 2_000;

/**
 * The one factory from an answer of 400 and above to its error.
 * @param signedAtMs the timestamp of a signed call
 */
export function accountingErrorOf(
  { json, bodyText }: HttpAnswer,
  meta: AnswerMeta,
  signedAtMs: number | undefined,
): AccountingApiError {
  const { operation, status, serverDateMs, retryAfterSeconds } = meta;
  const apiMessage = messageOf(json);
  const summary = `${operation}: HTTP ${status}${apiMessage === undefined ? "" : `: ${apiMessage}`}`;
  const isTimed = status === 401 && signedAtMs !== undefined && serverDateMs !== undefined;
  const clockAheadMs = isTimed ? signedAtMs - serverDateMs : undefined;
  const why =
    status === 401
      ? ` (${why401(signedAtMs, clockAheadMs)}${unsignedQuery(meta, signedAtMs)})`
      : status === 403
        ? " (the key is valid, but not authorized for that company or resource)"
        : pauseInWords(retryAfterSeconds);
  return new AccountingApiError(`${summary}${why}`, meta, excerpt(bodyText), clockAheadMs);
}

/** The response never says which of them it is. */
function why401(signedAtMs: number | undefined, clockAheadMs: number | undefined): string {
  const key = "the key is missing or invalid, or its application is inactive";
  if (signedAtMs === undefined) return key;
  const either = `${key}, or the signature is invalid: the client secret may be another application's`;
  if (clockAheadMs === undefined || Math.abs(clockAheadMs) < WORTH_SAYING_MS) return either;
  const seconds = Math.round(Math.abs(clockAheadMs) / 1_000);
  const which = `this machine's clock is ${seconds} s ${clockAheadMs > 0 ? "ahead of" : "behind"} the accounting service's`;
  if (Math.abs(clockAheadMs) < TIMESTAMP_TOLERANCE_MS) return `${either}; ${which}, which is within its 5 minutes`;
  return `${either}; ${which}, and a signature is refused beyond 5 minutes: set the clock`;
}

/** Whether the query string belongs to the signed path is not shown. */
function unsignedQuery({ operation }: AnswerMeta, signedAtMs: number | undefined): string {
  if (signedAtMs === undefined || operation !== "listBillPayments") return "";
  return "; where calls without a query string are accepted, change signature.query of ACCOUNTING_DIALECT";
}

/** The error body's shape is not shown: these are where services commonly put a sentence. */
function messageOf(json: unknown): string | undefined {
  const places = [field(json, "message"), field(json, "error"), field(field(json, "error"), "message")];
  const found = places.find((place) => typeof place === "string" && place !== "");
  return typeof found === "string" ? redact(found.slice(0, 1_000)) : undefined;
}

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
  if (error instanceof CallInputError) return { kind: "refused", attention: "invalid-request" };
  if (error instanceof AccountingApiError) {
    return ofStatus(error.status, retryAfterMsOf(error.meta)) ?? lost;
  }
  if (error instanceof UnexpectedAnswerError) return lost;
  if (!(error instanceof TransportError)) return lost;
  const deferral = deferralOf(error);
  if (deferral) return { kind: "deferred", ...deferral };
  return error.sent === "no" && !isRead ? { kind: "not-applied" } : lost;
}

/** Undefined: the status does not prove that nothing happened. */
function ofStatus(status: number, retryAfterMs: number | undefined): AccountingMeaning | undefined {
  if (status === 429) return { kind: "deferred", retryAfterMs };
  if (status === 401 || status === 403) return { kind: "configuration" };
  if (status === 404) return { kind: "refused", attention: "not-found" };
  if (saysAway(status)) return undefined;
  return { kind: "refused", attention: "invalid-request" };
}
