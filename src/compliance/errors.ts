import { AnswerError, CallError } from "../http/errors.ts";
import type { HttpAnswer } from "../http/request.ts";
import {
  parseHttpDateMs,
  parseRateLimit,
  parseRetryAfterSeconds,
  pauseInWords,
  type RateLimit,
} from "../http/quota-headers.ts";
import { type ErrorExtras, readErrorEnvelope, readErrorExtras } from "./answers.ts";
import type { Operation, OperationName } from "./operations.ts";
import { excerpt, redact } from "./redact.ts";

/** What every answer tells besides its body. */
export interface AnswerMeta {
  operation: OperationName;
  status: number;
  /** On successes and 429 (Fiscal Compliance API, "Limits"). */
  rateLimit?: RateLimit | undefined;
  retryAfterSeconds?: number | undefined;
  /** `Idempotent-Replayed: true`: the original result of an earlier request under the same key. */
  replayed: boolean;
  /** Unix milliseconds: when the request was handed to a connection. */
  requestSentAtMs: number;
  /** Unix milliseconds: when the answer's headers were complete. */
  answeredAtMs: number;
  /** The answer's own Date header, Unix milliseconds. */
  serverDateMs?: number | undefined;
}

export function readAnswerMeta(
  operation: OperationName,
  answer: Pick<HttpAnswer, "status" | "headers" | "sentAtMs" | "answeredAtMs">,
): AnswerMeta {
  const { headers } = answer;
  const serverDateMs = parseHttpDateMs(headers["date"]);
  return {
    operation,
    status: answer.status,
    rateLimit: parseRateLimit(headers),
    retryAfterSeconds: parseRetryAfterSeconds(headers, serverDateMs ?? answer.answeredAtMs),
    replayed: headers["idempotent-replayed"]?.trim().toLowerCase() === "true",
    requestSentAtMs: answer.sentAtMs,
    answeredAtMs: answer.answeredAtMs,
    serverDateMs,
  };
}

/**
 * How long a 429 asks to wait: Retry-After, else the window's reset (docs/failure-model.md, "What each kind of trouble
 * means").
 */
export function retryAfterMsOf(meta: Pick<AnswerMeta, "rateLimit" | "retryAfterSeconds">): number | undefined {
  const seconds = meta.retryAfterSeconds ?? meta.rateLimit?.resetSeconds;
  return seconds === undefined ? undefined : seconds * 1000;
}

/** The configuration of a client is wrong: nothing was sent, and nothing can be. Never holds a key. */
export class ComplianceConfigurationError extends CallError {
  override readonly name = "ComplianceConfigurationError" as const;
  readonly code: "invalid-api-key" | "invalid-base-url" | "invalid-dialect";
  readonly problems: readonly string[];

  constructor(code: ComplianceConfigurationError["code"], problems: readonly string[]) {
    super(problems.join("; "));
    this.code = code;
    this.problems = problems;
  }
}

/** A call that cannot be made as asked: it was refused before anything was sent. */
export class ComplianceInputError extends CallError {
  override readonly name = "ComplianceInputError" as const;
  readonly code: "missing-business-id" | "invalid-argument" | "not-in-dialect";

  constructor(code: ComplianceInputError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** An answer with a status of 400 or more, with or without the service's own error envelope. */
export class ComplianceApiError extends AnswerError {
  override readonly name = "ComplianceApiError" as const;
  readonly code = "api-error" as const;
  readonly status: number;
  /** The envelope's `code`: what clients branch on (Fiscal Compliance API, "Errors"). */
  override readonly apiCode: string | undefined;
  /** Whether the body was the service's own error envelope, and not, say, a proxy's page. */
  readonly envelope: boolean;
  readonly extras: ErrorExtras;
  readonly meta: AnswerMeta;
  /** At most 500 characters; only where the body was no envelope. */
  readonly bodyExcerpt: string | undefined;

  constructor(
    message: string,
    details: {
      meta: AnswerMeta;
      apiCode: string | undefined;
      envelope: boolean;
      extras: ErrorExtras;
      bodyExcerpt: string | undefined;
    },
  ) {
    super(message);
    this.status = details.meta.status;
    this.apiCode = details.apiCode;
    this.envelope = details.envelope;
    this.extras = details.extras;
    this.meta = details.meta;
    this.bodyExcerpt = details.bodyExcerpt;
  }

  get evidence(): Record<string, unknown> {
    const { errors, branches } = this.extras;
    return {
      ...(errors !== undefined && { errors }),
      ...(branches !== undefined && { branches }),
      ...(this.bodyExcerpt && { bodyExcerpt: this.bodyExcerpt }),
    };
  }
}

/**
 * An answer below 400 that is not what the document says for the operation. Whatever was asked for may have happened.
 */
export class UnexpectedAnswerError extends AnswerError {
  override readonly name = "UnexpectedAnswerError" as const;
  readonly code = "unexpected-answer" as const;
  readonly status: number;
  /** What is wrong with the body; empty where the status alone is unexpected. */
  readonly issues: readonly string[];
  /** At most 500 characters. */
  readonly bodyExcerpt: string;
  /** The id of the document that the body names all the same: it is to be kept before anything else. */
  readonly documentId: string | undefined;
  readonly meta: AnswerMeta;

  constructor(
    message: string,
    details: {
      meta: AnswerMeta;
      issues: readonly string[];
      bodyExcerpt: string;
      documentId: string | undefined;
    },
  ) {
    super(message);
    this.status = details.meta.status;
    this.issues = details.issues;
    this.bodyExcerpt = details.bodyExcerpt;
    this.documentId = details.documentId;
    this.meta = details.meta;
  }

  get evidence(): Record<string, unknown> {
    return { issues: this.issues, bodyExcerpt: this.bodyExcerpt };
  }
}

/** Said of an answer whose body says nothing that could be relied upon. */
export const WITHOUT_ENVELOPE = "without the API's error envelope";

/** The one factory from an answer of 400 and above to its error. */
export function apiErrorOf(operation: Operation, answer: HttpAnswer, meta: AnswerMeta): ComplianceApiError {
  const envelope = readErrorEnvelope(answer.json);
  const summary =
    envelope === undefined
      ? `HTTP ${meta.status} ${WITHOUT_ENVELOPE}`
      : `HTTP ${meta.status} ${redact(envelope.code)}: ${redact(envelope.message)}`;
  return new ComplianceApiError(`${operation.name}: ${summary}${hint(operation, meta)}`, {
    meta,
    apiCode: envelope?.code,
    envelope: envelope !== undefined,
    extras: readErrorExtras(answer.json),
    bodyExcerpt: envelope === undefined ? excerpt(answer.bodyText) : undefined,
  });
}

/** What can be behind it (Fiscal Compliance API, "Authentication", 5 and 6): the response never says which. */
function hint({ scope }: Operation, { status, retryAfterSeconds }: AnswerMeta): string {
  if (status === 401) return " (the key is missing, malformed, revoked, expired, or its application is suspended)";
  if (status !== 403) return pauseInWords(retryAfterSeconds);
  const need =
    scope === null
      ? "the key must have the scope of this operation, which the document does not name"
      : `the key needs the scope ${scope.name}${scope.stated ? "" : " (presumably: the document does not name it)"}`;
  return ` (${need}, must not be bound to another business, and must be of the business's environment: cmp_sk_test_ for sandbox, cmp_sk_live_ for production)`;
}
