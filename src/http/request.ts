import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher } from "undici";

import type { Deadline } from "./deadline.ts";
import { TransportError, type TransportErrorCode, UnreadableAnswerError } from "./errors.ts";
import { parseJson } from "./json.ts";
import { TLS_TROUBLE, tlsTroubleOf } from "./tls-trouble.ts";

const CHUNKS = { chunkSize: 64 * 1024 };

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(CHUNKS),
  "x-gzip": () => createGunzip(CHUNKS),
  deflate: () => createInflate(CHUNKS),
  br: () => createBrotliDecompress(CHUNKS),
};

/**
 * The body as it was before its `Content-Encoding`, piece by piece: no more is decoded than is asked for. Nothing is
 * asked to be encoded, but a gateway may do so all the same.
 *
 * @throws UnreadableAnswerError
 */
function decoded(body: Readable, contentEncoding: string | undefined): Readable {
  const encoding = (contentEncoding ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return body;
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
  if (!decoder) throw new UnreadableAnswerError(whyUnknown(encoding));
  // The reader of the decoder is told of every error.
  return pipeline(body, decoder, () => {});
}

function whyUnknown(encoding: string): string {
  if (!/^[a-z0-9.+-]{1,20}(, ?[a-z0-9.+-]{1,20}){0,4}$/.test(encoding))
    return "the answer is encoded in a way that is not known here";
  return encoding.includes(",")
    ? `the answer is encoded more than once (${encoding})`
    : `the answer is encoded as ${encoding}, which is not known here`;
}

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The whole call: waiting for a connection, connecting, headers and body. */
  timeoutMs: number;
  /** Decoded. */
  maxBodyBytes: number;
  /**
   * The first byte leaves before it, or none does: looked at on the established connection, right before the first
   * byte is written. Whatever came before (the request budget, DNS, TLS, a process that stood still) is counted.
   */
  sendBefore?: Deadline | undefined;
  /**
   * Takes the body of a success (2xx) piece by piece, so that it is never held whole; the next piece comes when this
   * one is done. A piece that it refuses ends the call. The body of any other answer is kept as usual, up to
   * {@link LONGEST_OTHER_BYTES}.
   */
  onBody?: ((piece: Uint8Array) => Promise<unknown>) | undefined;
}

export interface SendOptions extends HttpRequest {
  dispatcher: Dispatcher;
  /** Close the connection after the answer. */
  closeConnection?: boolean;
  nowMs?: () => number;
}

/** An answer that came whole, whatever its status. */
export interface HttpAnswer {
  status: number;
  /** Names in lower case; several values of one name are joined by `, `. */
  headers: Readonly<Record<string, string>>;
  /** Empty where the body was taken piece by piece (`HttpRequest.onBody`). */
  bodyText: string;
  /** In bytes, decoded. */
  bodyLength: number;
  /** Whatever the content type says; absent when the body is no JSON that is read. */
  json?: unknown;
  /** Why it is none. */
  problem?: string;
  /** When the request was handed to a connection, Unix milliseconds. */
  sentAtMs: number;
  /** When the answer's headers were complete, Unix milliseconds. */
  answeredAtMs: number;
}

/** Of a body that is kept whole where pieces were to be taken. */
const LONGEST_OTHER_BYTES = 4 * 1024 * 1024;

/**
 * One HTTP request, sent once, redirects not followed. Resolves with every answer that came whole, whatever its status;
 * rejects with a {@link TransportError} that says whether a byte may have left.
 *
 * How that is known: undici calls `onRequestStart` on a connection that is established (TCP, TLS, a proxy's tunnel),
 * right before it writes the first byte, and writes nothing when the request is aborted inside that call (undici 7.30,
 * lib/dispatcher/client-h1.js, `writeH1`). So error codes need not be told apart: an ECONNRESET during the TLS
 * handshake is `no`, the same code afterwards is `maybe`. `undici.request` is not used because it reports an abort only
 * after the connection is there, and keeps no note of that moment. A request that timed out in the queue is refused
 * when its turn comes.
 */
export function sendRequest(options: SendOptions): Promise<HttpAnswer> {
  const { dispatcher, method, url, signal, timeoutMs, maxBodyBytes, onBody, nowMs = Date.now } = options;
  const where = `${method} ${url.origin}${url.pathname}`;

  return new Promise((resolve, reject) => {
    let settled = false;
    let controller: Dispatcher.DispatchController | undefined;
    let sentAtMs: number | undefined;
    let answered: TransportError["answered"];
    let incoming: Readable | undefined;

    const settle = (): boolean => {
      if (settled) return false;
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      return true;
    };
    const fail = (code: TransportErrorCode, what: string, cause?: unknown): void => {
      if (!settle()) return;
      const sent = sentAtMs === undefined ? "no" : "maybe";
      const known = sent === "no" ? "nothing was sent" : "the request may have arrived";
      const error = new TransportError(`${where}: ${what}; ${known}`, { code, sent, sentAtMs, answered, cause });
      controller?.abort(error);
      incoming?.destroy();
      reject(error);
    };
    const failBroken = (cause: unknown): void => {
      if (sentAtMs === undefined) fail("not-sent", `no connection (${describe(cause)})`, cause);
      else if (answered === undefined) fail("connection-lost", `connection lost (${describe(cause)})`, cause);
      else fail("body-unreadable", `the answer broke off (${describe(cause)})`, cause);
    };
    const failUnread = (what: "kept" | "decoded", cause: unknown): void => {
      const why = `the answer could not be ${what} (${describe(cause)})`;
      fail("body-unreadable", cause instanceof UnreadableAnswerError ? cause.message : why, cause);
    };
    const onAbort = (): void => fail("aborted", "given up by the caller", signal?.reason);

    const timer = setTimeout(() => fail("timeout", `no whole answer within ${timeoutMs} ms`), timeoutMs);
    if (signal?.aborted) {
      onAbort();
      return;
    }
    signal?.addEventListener("abort", onAbort, { once: true });

    const readBody = async (
      body: Readable,
      head: NonNullable<TransportError["answered"]>,
      encoding?: string,
    ): Promise<void> => {
      const taken = isSuccess(head) ? onBody : undefined;
      const bound = onBody && !taken ? Math.min(maxBodyBytes, LONGEST_OTHER_BYTES) : maxBodyBytes;
      let bodyLength = 0;
      const chunks: Buffer[] = [];
      for await (const piece of decoded(body, encoding)) {
        bodyLength += piece.length;
        if (bodyLength > bound) return fail("body-too-large", `the answer is longer than ${inWords(bound)}`);
        if (!taken) chunks.push(piece);
        else {
          try {
            await taken(piece);
          } catch (cause) {
            return failUnread("kept", cause);
          }
        }
      }
      const { status, headers, atMs } = head;
      const bodyText = new TextDecoder().decode(Buffer.concat(chunks));
      const read = bodyText.trim() === "" ? {} : parseJson(bodyText);
      const answer = { status, headers, bodyText, bodyLength, ...read, sentAtMs: sentAtMs ?? atMs, answeredAtMs: atMs };
      // Only now: what is thrown before it ends the call, and nothing would end one that is settled.
      if (settle()) resolve(answer);
    };

    let isBegun = false;
    const beginBody = (encoding: string | undefined): void => {
      if (isBegun || !incoming || !answered) return;
      isBegun = true;
      readBody(incoming, answered, encoding).catch((cause: unknown) => {
        failUnread("decoded", cause);
      });
    };

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        // Too late: nothing is written when it is aborted here.
        if (settled) given.abort(new Error("given up before it was sent"));
        // A retrying dispatcher would send a write twice.
        else if (sentAtMs !== undefined) fail("connection-lost", "the dispatcher wanted to send it again");
        else if (options.sendBefore?.isPast === true) fail("too-late", "the time in which it may be sent is over");
        else sentAtMs = nowMs();
      },
      onResponseStart(given, status, headers) {
        if (status < 200) return;
        answered = { status, headers: flattenHeaders(headers), atMs: nowMs() };
        incoming = new Readable({ read: () => given.resume() });
      },
      onResponseData(given, chunk) {
        // undici gives an empty one after each pause: pausing for that too would never let the socket be read.
        if (chunk.length === 0) return;
        beginBody(answered?.headers["content-encoding"]);
        if (incoming?.push(chunk) === false) given.pause();
      },
      onResponseEnd() {
        if (incoming === undefined) return failBroken(new Error("the answer ended before its headers"));
        // An answer without a body is not encoded, whatever its header says.
        beginBody(undefined);
        incoming.push(null);
      },
      onResponseError(_controller, error) {
        failBroken(error);
      },
    };

    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method,
          // Bodies are short, and a decoder is one more thing that can fail.
          headers: { "accept-encoding": "identity", ...options.headers },
          body: options.body ?? null,
          // The one timer above governs; undici's own would only hide which limit was reached.
          headersTimeout: 0,
          bodyTimeout: 0,
          ...(options.closeConnection === true ? { reset: true } : {}),
        },
        handler,
      );
    } catch (error) {
      failBroken(error);
    }
  });
}

function isSuccess({ status }: { status: number }): boolean {
  return status >= 200 && status <= 299;
}

function inWords(bytes: number): string {
  const mebibytes = bytes / (1024 * 1024);
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}

/** The code says enough, and a message may quote what it should not. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown cause";
  const code: unknown = "code" in cause ? cause.code : undefined;
  if (typeof code !== "string") return cause.name;
  const trouble = tlsTroubleOf(cause);
  return trouble === undefined ? code : `${code}: ${TLS_TROUBLE[trouble]}`;
}

function flattenHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
