/**
 * The base of every error in which a call to a service can end: a literal `name`, a stable `code`, the `cause` kept.
 */
export abstract class CallError extends Error {
  abstract override readonly name: string;
  abstract readonly code: string;
}

/** An answer that came, and is not read. The message says why, for people, and quotes nothing of the answer. */
export class UnreadableAnswerError extends Error {
  override readonly name = "UnreadableAnswerError" as const;
}

/**
 * Why no whole answer came.
 *
 * - `not-sent`: no connection could be made (refused, DNS, TLS, connect timeout), or the request was refused locally
 * - `too-late`: the caller's deadline for the first byte had passed once the connection was there
 * - `held-back`: the guard of the request budget kept the request back; try again after `retryAfterMs`
 * - `timeout`: the total time was used up, wherever the request stood
 * - `aborted`: the caller's signal
 * - `connection-lost`: the connection broke before the answer's headers were complete
 * - `body-unreadable`: the headers came; the body did not come whole, or is encoded in a way that is not known
 * - `body-too-large`: the body is longer than the caller allows, as decoded
 */
export type TransportErrorCode =
  | "not-sent"
  | "too-late"
  | "held-back"
  | "timeout"
  | "aborted"
  | "connection-lost"
  | "body-unreadable"
  | "body-too-large";

/** `no`: certainly not a byte of the request left this process. `maybe`: everything else. */
export type Sent = "no" | "maybe";

export interface TransportErrorDetails {
  code: TransportErrorCode;
  sent: Sent;
  /** When the request was handed to a connection (Unix milliseconds); absent where `sent` is `no`. */
  sentAtMs?: number | undefined;
  /** What was already read of the answer. */
  answered?: { status: number; headers: Readonly<Record<string, string>>; atMs: number } | undefined;
  /** With `held-back`. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export class TransportError extends CallError {
  override readonly name = "TransportError" as const;
  readonly code: TransportErrorCode;
  readonly sent: Sent;
  readonly sentAtMs: number | undefined;
  readonly answered: TransportErrorDetails["answered"];
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: TransportErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.sent = details.sent;
    this.sentAtMs = details.sentAtMs;
    this.answered = details.answered;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** The caller's own doing, which says nothing of the service: it gave up, or came too late. */
export function isOwnDoing({ code }: Pick<TransportError, "code">): boolean {
  return code === "aborted" || code === "too-late";
}

/**
 * The answer of a service that is away, or could not: whatever was asked for may have happened. A 408 may be a proxy's,
 * which has passed the request on.
 */
export function saysAway(status: number): boolean {
  return status >= 500 || status === 408;
}
