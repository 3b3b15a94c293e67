import { AnswerError, CallError } from "../http/errors.ts";
import type { HttpAnswer } from "../http/http-answer.ts";
import { field } from "../http/json.ts";
import { parseHttpDateMs, parseRetryAfterSeconds, pauseInWords } from "../http/quota-headers.ts";
import type { AccountingOperationName } from "./operations.ts";

const SECRET_LIKE = /\b(sk_(?:development|production)_|whsec_(?:development|production)_|cs_)[^\s"'<>]+/g;
const LONGEST_EXCERPT = 500;

/** Takes keys and secrets out of a text that a service may have quoted them in. */
function redactSecrets(text: string): string {
  return text.replaceAll(SECRET_LIKE, (_secret, prefix: string) => `${prefix}…`);
}

/** The beginning of a body, for people. */
export function excerptOf(bodyText: string): string {
  const text = redactSecrets(bodyText.slice(0, 4 * LONGEST_EXCERPT));
  return text.length <= LONGEST_EXCERPT ? text : `${text.slice(0, LONGEST_EXCERPT - 1)}…`;
}

/** What every answer tells besides its body. */
export interface AccountingAnswerMeta {
  operation: AccountingOperationName;
  status: number;
  /** Throttling headers are not shown: this is the one that HTTP itself has. */
  retryAfterSeconds?: number;
  /** Unix milliseconds: when the request was handed to a connection. */
  requestSentAtMs: number;
  /** Unix milliseconds: when the answer's headers were complete. */
  answeredAtMs: number;
  /** The answer's own Date header, Unix milliseconds. */
  serverDateMs?: number;
}

export function readAccountingMeta(
  operation: AccountingOperationName,
  answer: Pick<HttpAnswer, "status" | "headers" | "sentAtMs" | "answeredAtMs">,
): AccountingAnswerMeta {
  const { headers, status, sentAtMs, answeredAtMs } = answer;
  const serverDateMs = parseHttpDateMs(headers["date"]);
  const retryAfterSeconds = parseRetryAfterSeconds(headers, serverDateMs ?? answeredAtMs);
  return {
    operation,
    status,
    requestSentAtMs: sentAtMs,
    answeredAtMs,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(serverDateMs === undefined ? {} : { serverDateMs }),
  };
}

/** The configuration of a client is wrong: nothing was sent, and nothing can be. Never holds a key or a secret. */
export class AccountingConfigurationError extends CallError {
  override readonly name = "AccountingConfigurationError" as const;
  readonly code: "invalid-api-key" | "invalid-client-secret" | "invalid-base-url" | "invalid-dialect";
  readonly problems: readonly string[];

  constructor(code: AccountingConfigurationError["code"], problems: readonly string[]) {
    super(problems.join("; "));
    this.code = code;
    this.problems = problems;
  }
}

/** A call that cannot be made as asked: it was refused before anything was sent. */
export class AccountingInputError extends CallError {
  override readonly name = "AccountingInputError" as const;
  readonly code: "invalid-argument" | "not-in-dialect";

  constructor(code: AccountingInputError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

interface AccountingApiErrorDetails {
  meta: AccountingAnswerMeta;
  /** At most 500 characters. */
  bodyExcerpt: string;
}

/** An answer with a status of 400 or more. The shape of an error's body is not shown (Accounting Service, "Errors"). */
export class AccountingApiError extends AnswerError {
  override readonly name: "AccountingApiError" | "AccountingUnauthorizedError" | "AccountingForbiddenError" =
    "AccountingApiError";
  readonly code: "api-error" | "unauthorized" | "forbidden" = "api-error";
  readonly status: number;
  readonly bodyExcerpt: string;
  readonly meta: AccountingAnswerMeta;

  constructor(message: string, details: AccountingApiErrorDetails) {
    super(message);
    this.status = details.meta.status;
    this.bodyExcerpt = details.bodyExcerpt;
    this.meta = details.meta;
  }

  get evidence(): Record<string, unknown> {
    return this.bodyExcerpt ? { bodyExcerpt: this.bodyExcerpt } : {};
  }
}

/** 401: the key is missing or invalid, its application is inactive, or the signature is invalid. */
export class AccountingUnauthorizedError extends AccountingApiError {
  override readonly name = "AccountingUnauthorizedError" as const;
  override readonly code = "unauthorized" as const;
  /**
   * Of a signed call: how far our clock was ahead of the service's when the call was signed, in milliseconds (negative:
   * behind). A hint, by the answer's Date, which counts whole seconds.
   */
  readonly clockAheadMs: number | undefined;

  constructor(message: string, details: AccountingApiErrorDetails & { clockAheadMs: number | undefined }) {
    super(message, details);
    this.clockAheadMs = details.clockAheadMs;
  }

  override get evidence(): Record<string, unknown> {
    return { ...super.evidence, ...(this.clockAheadMs !== undefined && { clockAheadMs: this.clockAheadMs }) };
  }
}

/** 403: the key is valid, and not authorized for that company or resource. */
export class AccountingForbiddenError extends AccountingApiError {
  override readonly name = "AccountingForbiddenError" as const;
  override readonly code = "forbidden" as const;
}

/**
 * An answer below 400 that is not what the document says for the operation. Whatever was asked for may have happened.
 */
export class AccountingUnexpectedAnswerError extends AnswerError {
  override readonly name = "AccountingUnexpectedAnswerError" as const;
  readonly code = "unexpected-answer" as const;
  readonly status: number;
  /** What is wrong with the body; empty where the status alone is unexpected. */
  readonly issues: readonly string[];
  /** At most 500 characters. */
  readonly bodyExcerpt: string;
  readonly meta: AccountingAnswerMeta;

  constructor(
    message: string,
    details: { meta: AccountingAnswerMeta; issues: readonly string[]; bodyExcerpt: string },
  ) {
    super(message);
    this.status = details.meta.status;
    this.issues = details.issues;
    this.bodyExcerpt = details.bodyExcerpt;
    this.meta = details.meta;
  }

  get evidence(): Record<string, unknown> {
    return { issues: this.issues, bodyExcerpt: this.bodyExcerpt };
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
