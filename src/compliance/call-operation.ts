import type { Deadline } from "../http/deadline.ts";
import type { HttpAnswer } from "../http/request.ts";
import { field } from "../http/json.ts";
import { bodyReader, type OddRow, type ReadBody, type ReadList } from "../http/read-body.ts";
import type { Transport } from "../http/transport.ts";
import { readSeenSale } from "./answers.ts";
import { type AnswerMeta, apiErrorOf, ComplianceInputError, readAnswerMeta, UnexpectedAnswerError } from "./errors.ts";
import type { Operation, OperationName } from "./operations.ts";
import { excerpt } from "./redact.ts";

/** Of many rows, whoever reads them, and in whatever way. */
const LISTS: readonly string[] = ["listItems", "listPurchases"] satisfies OperationName[];

/** What every call of one client shares. */
export interface ClientContext {
  /** Without a slash at its end. */
  baseUrl: string;
  presentKey: () => string;
  auth: "x-api-key" | "bearer";
  transport: Transport;
  timeoutMs: number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** The first byte leaves before it, or none does. */
  sendBefore?: Deadline | undefined;
}

export interface Result<Data> {
  data: Data;
  meta: AnswerMeta;
  /** Of the body, decoded. */
  bodyLength?: number | undefined;
  /** Rows of a list that are not of their form, and are not in `data`. */
  odd?: readonly OddRow[] | undefined;
}

export interface OutgoingRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string>>;
  bodyJson?: string | undefined;
  idempotencyKey?: string | undefined;
  /** Content types; default: JSON. */
  accept?: string | undefined;
  /** Takes the body of a success piece by piece, each waited for. */
  onBody?: ((piece: Uint8Array) => Promise<unknown>) | undefined;
}

/**
 * One call = one HTTP request, never repeated here.
 *
 * @throws TransportError no whole answer came
 * @throws ComplianceApiError status 400 and above
 * @throws UnexpectedAnswerError any other answer that is not what the document says
 */
export async function callOperation<Data>(
  context: ClientContext,
  operation: Operation,
  request: OutgoingRequest,
  read: ReadBody<Data> | ReadList<Data>,
  options: CallOptions,
): Promise<Result<Data>> {
  const isList = LISTS.includes(operation.name);
  const reader = bodyReader(read, { isList, onBody: request.onBody });
  const answer = await context.transport.send({
    method: request.method ?? operation.method,
    url: new URL(`${context.baseUrl}${request.path}${queryString(request.query ?? {})}`),
    headers: headersOf(context, request),
    body: request.bodyJson,
    signal: options.signal,
    sendBefore: options.sendBefore,
    timeoutMs: context.timeoutMs,
    ...reader.request,
    freshConnection: operation.riskClass === "unrepeatableWrite",
  });
  const meta = readAnswerMeta(operation.name, answer);
  if (answer.status >= 400) throw apiErrorOf(operation, answer, meta);
  const strange = (issues: readonly string[]) =>
    unexpectedAnswer(operation, answer, meta, issues, reader.excerptOf(answer));
  if (!isSuccess(operation, meta)) throw strange([]);
  const body = reader.read(answer);
  if ("issues" in body) throw strange(body.issues);
  return { data: body.data, meta, bodyLength: answer.bodyLength, ...(body.odd && { odd: body.odd }) };
}

function headersOf({ auth, presentKey }: ClientContext, request: OutgoingRequest): Record<string, string> {
  const key = presentKey();
  return {
    accept: request.accept ?? "application/json",
    "user-agent": "fiscalflow",
    ...(auth === "bearer" ? { authorization: `Bearer ${key}` } : { "x-api-key": key }),
    ...(request.bodyJson === undefined ? {} : { "content-type": "application/json" }),
    ...(request.idempotencyKey === undefined ? {} : { "idempotency-key": request.idempotencyKey }),
  };
}

function queryString(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** An id as a segment of a path. `.` and `..` would name another path, and an empty one the whole collection. */
export function pathWithId(path: string, id: string): string {
  if (id === "" || id === "." || id === "..") {
    throw new ComplianceInputError("invalid-argument", `${JSON.stringify(id)} cannot be an id`);
  }
  return path.replace("{id}", () => encodePart(id));
}

function encodePart(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new ComplianceInputError("invalid-argument", `${JSON.stringify(text)} is not well-formed text`);
  }
}

function isSuccess({ expects }: Operation, { status, replayed }: AnswerMeta): boolean {
  if (expects.statuses === "2xx") return status >= 200 && status <= 299;
  return expects.statuses.includes(status) || (replayed && expects.whenReplayed?.includes(status) === true);
}

function unexpectedAnswer(
  operation: Operation,
  answer: HttpAnswer,
  meta: AnswerMeta,
  issues: readonly string[],
  bodyText: string,
): UnexpectedAnswerError {
  const what = issues.length === 0 ? "a status that the document does not show" : issues.join("; ");
  return new UnexpectedAnswerError(`${operation.name}: unexpected answer, HTTP ${meta.status}: ${what}`, {
    meta,
    issues,
    bodyExcerpt: excerpt(bodyText),
    documentId: readSeenSale(field(field(answer.json, "data"), "sale"))?.id,
  });
}
