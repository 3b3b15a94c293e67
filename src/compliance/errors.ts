import { pauseInWords } from "../http/quota-headers.ts";
import type { HttpAnswer } from "../http/request.ts";
import { AnswerError, type AnswerMeta, excerpt, redact } from "../http/service-call.ts";
import { type ErrorExtras, readErrorEnvelope, readErrorExtras } from "./answers.ts";
import type { Operation } from "./operations.ts";

/** An answer with a status of 400 or more, with or without the service's own error envelope. */
export class ComplianceApiError extends AnswerError {
  override readonly name = "ComplianceApiError" as const;
  readonly code = "api-error" as const;
  /** Of the envelope (Fiscal Compliance API, "Errors"). */
  override readonly apiCode: string | undefined;
  /** Whether the body was the service's own error envelope, and not, say, a proxy's page. */
  readonly envelope: boolean;
  readonly extras: ErrorExtras;

  /** @param details `bodyExcerpt`: empty where the body was an envelope */
  constructor(
    message: string,
    meta: AnswerMeta,
    details: { apiCode?: string | undefined; envelope: boolean; extras: ErrorExtras; bodyExcerpt?: string },
  ) {
    super(message, meta, details.bodyExcerpt ?? "");
    this.apiCode = details.apiCode;
    this.envelope = details.envelope;
    this.extras = details.extras;
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

/** Said of an answer whose body says nothing that could be relied upon. */
export const WITHOUT_ENVELOPE = "without the API's error envelope";

/** The one factory from an answer of 400 and above to its error. */
export function apiErrorOf(operation: Operation, answer: HttpAnswer, meta: AnswerMeta): ComplianceApiError {
  const envelope = readErrorEnvelope(answer.json);
  const summary =
    envelope === undefined
      ? `HTTP ${meta.status} ${WITHOUT_ENVELOPE}`
      : `HTTP ${meta.status} ${redact(envelope.code)}: ${redact(envelope.message)}`;
  return new ComplianceApiError(`${operation.name}: ${summary}${hint(operation, meta)}`, meta, {
    apiCode: envelope?.code,
    envelope: envelope !== undefined,
    extras: readErrorExtras(answer.json),
    ...(envelope === undefined && { bodyExcerpt: excerpt(answer.bodyText) }),
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
