import type { HttpAnswer } from "../http/http-answer.ts";
import { pauseInWords } from "../http/quota-headers.ts";
import type { AccountingAnswerMeta } from "./answer-meta.ts";
import {
  AccountingApiError,
  type AccountingApiErrorDetails,
  AccountingForbiddenError,
  AccountingUnauthorizedError,
} from "./errors.ts";
import { excerptOf, redactSecrets } from "./redact.ts";

/** "Limits": the timestamp of a signed request must be within five minutes of the service's time. */
const TIMESTAMP_TOLERANCE_MS = 5 * 60_000;
/** Date counts whole seconds, and an answer is under way for a while: less than this says nothing. */
const WORTH_SAYING_MS = 2_000;

/**
 * The one factory from an answer of 400 and above to its error.
 * @param signedAtMs the timestamp of a signed call
 */
export function accountingErrorOf(
  answer: HttpAnswer,
  meta: AccountingAnswerMeta,
  signedAtMs: number | undefined,
): AccountingApiError {
  const apiMessage = messageOf(answer.json);
  const details: AccountingApiErrorDetails = { meta, bodyExcerpt: excerptOf(answer.bodyText) };
  const summary = `${meta.operation}: HTTP ${meta.status}${apiMessage === undefined ? "" : `: ${apiMessage}`}`;
  if (meta.status === 401) {
    const { serverDateMs } = meta;
    const clockAheadMs = signedAtMs === undefined || serverDateMs === undefined ? undefined : signedAtMs - serverDateMs;
    return new AccountingUnauthorizedError(
      `${summary} (${why401(signedAtMs, clockAheadMs)}${unsignedQuery(meta, signedAtMs)})`,
      {
        ...details,
        clockAheadMs,
      },
    );
  }
  if (meta.status === 403) {
    const why = "the key is valid, but not authorized for that company or resource";
    return new AccountingForbiddenError(`${summary} (${why})`, details);
  }
  return new AccountingApiError(`${summary}${pauseInWords(meta.retryAfterSeconds)}`, details);
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
function unsignedQuery({ operation }: AccountingAnswerMeta, signedAtMs: number | undefined): string {
  if (signedAtMs === undefined || operation !== "listBillPayments") return "";
  return "; where calls without a query string are accepted, change signature.query of ACCOUNTING_DIALECT";
}

/** The error body's shape is not shown: these are where services commonly put a sentence. */
function messageOf(json: unknown): string | undefined {
  const places = [field(json, "message"), field(json, "error"), field(field(json, "error"), "message")];
  const found = places.find((place) => typeof place === "string" && place !== "");
  return typeof found === "string" ? redactSecrets(found.slice(0, 1_000)) : undefined;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
