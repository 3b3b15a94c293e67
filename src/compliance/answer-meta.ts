import type { TransportError } from "../http/errors.ts";
import type { HttpAnswer } from "../http/http-answer.ts";
import { parseHttpDateMs, parseRateLimit, parseRetryAfterSeconds, type RateLimit } from "../http/quota-headers.ts";
import type { OperationName } from "./operations.ts";

/** What every answer tells besides its body. */
export interface AnswerMeta {
  operation: OperationName;
  status: number;
  /** On successes and 429 (Fiscal Compliance API, "Limits"). */
  rateLimit?: RateLimit;
  retryAfterSeconds?: number;
  /** `Idempotent-Replayed: true`: the original result of an earlier request under the same key. */
  replayed: boolean;
  /** Unix milliseconds: when the request was handed to a connection. */
  requestSentAtMs: number;
  /** Unix milliseconds: when the answer's headers were complete. */
  answeredAtMs: number;
  /** The answer's own Date header, Unix milliseconds. */
  serverDateMs?: number;
}

export function readAnswerMeta(
  operation: OperationName,
  answer: Pick<HttpAnswer, "status" | "headers" | "sentAtMs" | "answeredAtMs">,
): AnswerMeta {
  const { headers } = answer;
  const serverDateMs = parseHttpDateMs(headers["date"]);
  const rateLimit = parseRateLimit(headers);
  const retryAfterSeconds = parseRetryAfterSeconds(headers, serverDateMs ?? answer.answeredAtMs);
  return {
    operation,
    status: answer.status,
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    replayed: headers["idempotent-replayed"]?.trim().toLowerCase() === "true",
    requestSentAtMs: answer.sentAtMs,
    answeredAtMs: answer.answeredAtMs,
    ...(serverDateMs === undefined ? {} : { serverDateMs }),
  };
}

/** The same of an answer whose body broke off. */
export function metaOfBroken(
  operation: OperationName,
  answered: NonNullable<TransportError["answered"]>,
  sentAtMs: number | undefined,
): AnswerMeta {
  const { atMs, ...rest } = answered;
  return readAnswerMeta(operation, { ...rest, sentAtMs: sentAtMs ?? atMs, answeredAtMs: atMs });
}

/**
 * How long a 429 asks to wait: Retry-After, else the window's reset (docs/failure-model.md, "What each kind of trouble
 * means").
 */
export function retryAfterMsOf(meta: Pick<AnswerMeta, "rateLimit" | "retryAfterSeconds">): number | undefined {
  const seconds = meta.retryAfterSeconds ?? meta.rateLimit?.resetSeconds;
  return seconds === undefined ? undefined : seconds * 1000;
}
