import { AnswerError, CallError } from "../http/errors.ts";
import type { AnswerMeta } from "./answer-meta.ts";
import type { ErrorExtras } from "./error-envelope.ts";

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
  readonly replayed: boolean;
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
    this.replayed = details.meta.replayed;
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
