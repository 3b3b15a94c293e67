import { createHmac } from "node:crypto";

import type { Deadline } from "../http/deadline.ts";
import { bodyReader, type OddRow, type ReadBody, type ReadList } from "../http/read-body.ts";
import type { Transport } from "../http/transport.ts";
import type { AccountingDialect } from "./dialect.ts";
import {
  type AccountingAnswerMeta,
  accountingErrorOf,
  AccountingInputError,
  AccountingUnexpectedAnswerError,
  excerptOf,
  readAccountingMeta,
} from "./errors.ts";
import type { AccountingOperation } from "./operations.ts";

export interface ToSign {
  /** In upper case. */
  method: string;
  url: URL;
  /** The exact body as it is transmitted; the empty string where there is none. */
  body: string;
  timestampMs: number;
  /** Whether the query string belongs to the path: not shown, so the dialect says (`signature.query`). */
  withQuery: boolean;
}

/**
 * Accounting Service, "Authentication", 4: method, path, exact body and timestamp, with nothing between them. The path
 * is that of the request line, with whatever prefix the base address has, escaped as it is sent.
 */
export function messageToSign({ method, url, body, timestampMs, withQuery }: ToSign): string {
  const path = withQuery ? `${url.pathname}${url.search}` : url.pathname;
  return `${method.toUpperCase()}${path}${body}${timestampMs}`;
}

/** "Authentication", 3: HMAC-SHA256 under the client secret, hex-encoded, and the timestamp in Unix milliseconds. */
export function signatureHeaders(toSign: ToSign, clientSecret: string): Record<string, string> {
  const hmac = createHmac("sha256", clientSecret).update(messageToSign(toSign), "utf8").digest("hex");
  return { "x-signature": hmac, "x-timestamp": String(toSign.timestampMs) };
}

/** What every call of one client shares. */
export interface AccountingContext {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: () => string;
  /** With it every request is signed. */
  clientSecret: (() => string) | undefined;
  dialect: AccountingDialect;
  transport: Transport;
  timeoutMs: number;
  nowMs: () => number;
}

export interface AccountingCallOptions {
  signal?: AbortSignal | undefined;
  /** The first byte leaves before it, or none does. */
  sendBefore?: Deadline | undefined;
  /** The whole call; default: the client's. */
  timeoutMs?: number | undefined;
}

export interface AccountingResult<Data> {
  data: Data;
  meta: AccountingAnswerMeta;
  /** Rows of a list that are not of their form, and are not in `data`. */
  odd?: readonly OddRow[] | undefined;
}

/**
 * One call = one HTTP request, never repeated here. No operation that the document shows has a body.
 *
 * @throws TransportError no whole answer came
 * @throws AccountingUnauthorizedError 401; AccountingForbiddenError 403; AccountingApiError any other status from 400
 * @throws AccountingUnexpectedAnswerError any other answer that is not what the document says
 */
export async function callAccounting<Data>(
  context: AccountingContext,
  operation: AccountingOperation,
  request: { path: string; query?: Readonly<Record<string, string>> },
  read: ReadBody<Data> | ReadList<Data>,
  options: AccountingCallOptions,
): Promise<AccountingResult<Data>> {
  const url = new URL(`${context.baseUrl}${request.path}`);
  for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value);
  const signedAtMs = context.clientSecret === undefined ? undefined : context.nowMs();
  const reader = bodyReader(read, { isList: operation.name === "listBillPayments" });
  const answer = await context.transport.send({
    method: operation.method,
    url,
    headers: { ...plainHeaders(context), ...signed(context, operation, url, signedAtMs) },
    signal: options.signal,
    sendBefore: options.sendBefore,
    timeoutMs: options.timeoutMs ?? context.timeoutMs,
    ...reader.request,
    freshConnection: operation.riskClass === "unrepeatableWrite",
  });
  const meta = readAccountingMeta(operation.name, answer);
  if (answer.status >= 400) throw accountingErrorOf(answer, meta, signedAtMs);
  if (answer.status !== 200) throw unexpected(reader.excerptOf(answer), meta, []);
  const body = reader.read(answer);
  if ("issues" in body) throw unexpected(reader.excerptOf(answer), meta, body.issues);
  return { data: body.data, meta, ...(body.odd && { odd: body.odd }) };
}

/** "Authentication", 1: the same key works for all products. */
function plainHeaders({ apiKey }: AccountingContext): Record<string, string> {
  return { accept: "application/json", "user-agent": "fiscalflow", "x-api-key": apiKey() };
}

/** Of the very request that is sent: the signature's timestamp is the moment, so it is made last. */
function signed(
  { clientSecret, dialect }: AccountingContext,
  { method }: AccountingOperation,
  url: URL,
  timestampMs: number | undefined,
): Record<string, string> {
  if (clientSecret === undefined || timestampMs === undefined) return {};
  return signatureHeaders({ method, url, body: "", timestampMs, withQuery: dialect.signature.query }, clientSecret());
}

/** An id as a segment of a path. `.` and `..` would name another path, and an empty one another resource. */
export function pathSegment(id: string): string {
  try {
    if (id !== "" && id !== "." && id !== "..") return encodeURIComponent(id);
  } catch {
    // Half of a surrogate pair.
  }
  throw new AccountingInputError("invalid-argument", `${JSON.stringify(id)} cannot be an id`);
}

function unexpected(
  bodyText: string,
  meta: AccountingAnswerMeta,
  issues: readonly string[],
): AccountingUnexpectedAnswerError {
  const what = issues.length === 0 ? "a status that the document does not show" : issues.join("; ");
  const message = `${meta.operation}: unexpected answer, HTTP ${meta.status}: ${what}`;
  return new AccountingUnexpectedAnswerError(message, { meta, issues, bodyExcerpt: excerptOf(bodyText) });
}
