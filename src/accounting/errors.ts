import { AnswerError, CallError } from "../http/errors.ts";
import type { AccountingAnswerMeta } from "./answer-meta.ts";

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

export interface AccountingApiErrorDetails {
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
