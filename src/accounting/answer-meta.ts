import type { HttpAnswer } from "../http/http-answer.ts";
import { parseHttpDateMs, parseRetryAfterSeconds } from "../http/quota-headers.ts";
import type { AccountingOperationName } from "./operations.ts";

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
