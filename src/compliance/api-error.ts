import type { HttpAnswer } from "../http/http-answer.ts";
import { pauseInWords } from "../http/quota-headers.ts";
import type { AnswerMeta } from "./answer-meta.ts";
import { readErrorEnvelope, readErrorExtras } from "./error-envelope.ts";
import { ComplianceApiError } from "./errors.ts";
import type { Operation } from "./operations.ts";
import { excerpt, redact } from "./redact.ts";

/** Said of an answer whose body says nothing that could be relied upon. */
export const WITHOUT_ENVELOPE = "without the API's error envelope";

/** The one factory from an answer of 400 and above to its error. */
export function apiErrorOf(operation: Operation, answer: HttpAnswer, meta: AnswerMeta): ComplianceApiError {
  const envelope = readErrorEnvelope(answer.json);
  const summary =
    envelope === undefined
      ? `HTTP ${meta.status} ${WITHOUT_ENVELOPE}`
      : `HTTP ${meta.status} ${redact(envelope.apiCode)}: ${redact(envelope.message)}`;
  return new ComplianceApiError(`${operation.name}: ${summary}${hint(operation, meta)}`, {
    meta,
    apiCode: envelope?.apiCode,
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
