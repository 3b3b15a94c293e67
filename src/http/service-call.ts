import type { Deadline } from "./deadline.ts";
import { CallError, type TransportError } from "./errors.ts";
import { parseHttpDateMs, parseRateLimit, parseRetryAfterSeconds, type RateLimit } from "./quota-headers.ts";
import type { BodyReader, OddRow } from "./read-body.ts";
import type { HttpAnswer } from "./request.ts";
import type { Transport, TransportRequest } from "./transport.ts";

/** What the calls of both services have in common; what an answer means is for each of them. */

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** The first byte leaves before it, or none does. */
  sendBefore?: Deadline | undefined;
}

/** What every answer tells besides its body. */
export interface AnswerMeta<Name extends string = string> {
  operation: Name;
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
  /** The answer's own Date header, which counts whole seconds; Unix milliseconds. */
  serverDateMs?: number | undefined;
}

export interface ServiceResult<Data, Name extends string> {
  data: Data;
  meta: AnswerMeta<Name>;
  /** Of the body, decoded. */
  bodyLength?: number;
  /** Rows of a list that are not of their form, and are not in `data`. */
  odd?: readonly OddRow[] | undefined;
}

/** A call that cannot be made as asked: it was refused before anything was sent. */
export class CallInputError extends CallError {
  override readonly name = "CallInputError" as const;
  readonly code: "missing-business-id" | "invalid-argument" | "not-in-dialect";

  constructor(code: CallInputError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** The service answered, with an error or with something that its document does not show. */
export abstract class AnswerError extends CallError {
  readonly status: number;
  readonly meta: AnswerMeta;
  /** At most 500 characters. */
  readonly bodyExcerpt: string;
  /** The `code` of the service's error envelope, where it has one: what clients branch on. */
  readonly apiCode?: string | undefined;

  constructor(message: string, meta: AnswerMeta, bodyExcerpt: string) {
    super(message);
    this.status = meta.status;
    this.meta = meta;
    this.bodyExcerpt = bodyExcerpt;
  }

  /** What the service answered, for people: without what a message must not hold. */
  abstract get evidence(): Record<string, unknown>;
}

/**
 * An answer below 400 that is not what the document says for the operation. Whatever was asked for may have happened.
 */
export class UnexpectedAnswerError extends AnswerError {
  override readonly name = "UnexpectedAnswerError" as const;
  readonly code = "unexpected-answer" as const;
  /** What is wrong with the body; empty where the status alone is unexpected. */
  readonly issues: readonly string[];
  /** The id of the document that the body names all the same: it is to be kept before anything else. */
  readonly documentId: string | undefined;

  constructor(meta: AnswerMeta, issues: readonly string[], bodyExcerpt: string, documentId: string | undefined) {
    const what = issues.length === 0 ? "a status that the document does not show" : issues.join("; ");
    super(`${meta.operation}: unexpected answer, HTTP ${meta.status}: ${what}`, meta, bodyExcerpt);
    this.issues = issues;
    this.documentId = documentId;
  }

  get evidence(): Record<string, unknown> {
    return { issues: this.issues, bodyExcerpt: this.bodyExcerpt };
  }
}

interface ServiceRequest<Name extends string>
  extends Pick<TransportRequest, "method" | "url" | "headers" | "body" | "timeoutMs" | "freshConnection">, CallOptions {
  operation: Name;
}

/** What a service says of its answers. */
interface Answers<Name extends string> {
  isSuccess: (meta: AnswerMeta<Name>) => boolean;
  /** Of an answer of 400 and above. */
  errorOf: (answer: HttpAnswer, meta: AnswerMeta<Name>) => AnswerError;
  documentIdOf?: (answer: HttpAnswer) => string | undefined;
}

/**
 * One call = one HTTP request, never repeated here.
 *
 * @throws TransportError no whole answer came
 * @throws AnswerError status 400 and above
 * @throws UnexpectedAnswerError any other answer that is not what the document says
 */
export async function callService<Data, Name extends string>(
  transport: Transport,
  { operation, ...request }: ServiceRequest<Name>,
  reader: BodyReader<Data>,
  { isSuccess, errorOf, documentIdOf }: Answers<Name>,
): Promise<ServiceResult<Data, Name>> {
  const answer = await transport.send({ ...request, ...reader.request });
  const meta = readAnswerMeta(operation, answer);
  if (answer.status >= 400) throw errorOf(answer, meta);
  const body = isSuccess(meta) ? reader.read(answer) : { issues: [] };
  if ("issues" in body)
    throw new UnexpectedAnswerError(meta, body.issues, excerpt(reader.excerptOf(answer)), documentIdOf?.(answer));
  return { data: body.data, meta, bodyLength: answer.bodyLength, ...(body.odd && { odd: body.odd }) };
}

function readAnswerMeta<Name extends string>(
  operation: Name,
  answer: Pick<HttpAnswer, "status" | "headers" | "sentAtMs" | "answeredAtMs">,
): AnswerMeta<Name> {
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
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** How long to wait after a call that was kept back, or answered 429; undefined where it was neither. */
export function deferralOf(error: TransportError): { retryAfterMs: number | undefined } | undefined {
  if (error.code === "held-back") return { retryAfterMs: error.retryAfterMs };
  const { answered } = error;
  // A 429 says all it has to say in its headers, so that a body that broke off takes nothing from it.
  if (answered?.status !== 429) return undefined;
  const times = { sentAtMs: answered.atMs, answeredAtMs: answered.atMs };
  return { retryAfterMs: retryAfterMsOf(readAnswerMeta("", { ...answered, ...times })) };
}

/** An id as a segment of a path. `.` and `..` would name another path, and an empty one the whole collection. */
export function pathWithId(path: string, id: string): string {
  if (id === "" || id === "." || id === "..") {
    throw new CallInputError("invalid-argument", `${JSON.stringify(id)} cannot be an id`);
  }
  return path.replace(/\{\w+\}/, () => encodePart(id));
}

export function encodePart(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new CallInputError("invalid-argument", `${JSON.stringify(text)} is not well-formed text`);
  }
}

/** Beginnings of the keys and secrets of both services. */
const KEY_LIKE =
  /(cmp_sk_(?:test|live)_|\b(?:sk_(?:development|production)_|whsec_(?:development|production)_|cs_))[^\s"'<>]*/g;
/** Slashes may be escaped, as some JSON writers do. */
const URL_LIKE = /\b(https?):(?:\\?\/){2}([^\s"'<>]*)/gi;

/**
 * Takes out of a text what no message may hold: keys, and everything of a URL besides its host, since the path of a
 * callback URL is its token and the API may quote it.
 */
export function redact(text: string): string {
  return text.replaceAll(KEY_LIKE, "$1…").replaceAll(URL_LIKE, (_url, scheme: string, rest: string) => {
    const authority = rest.split(/[\\/?#]/, 1)[0] ?? "";
    return `${scheme}://${authority.slice(authority.lastIndexOf("@") + 1)}/…`;
  });
}

/** The same for every string inside a JSON value. */
export function redactDeep(value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redactDeep(inner)]));
}

const EXCERPT_LENGTH = 500;

/** The beginning of a body, for people. */
export function excerpt(bodyText: string): string {
  const text = redact(bodyText.slice(0, 4 * EXCERPT_LENGTH));
  return text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH - 1)}…`;
}
