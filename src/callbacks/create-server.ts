import { fastify, type FastifyInstance } from "fastify";
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { type ReceiverWatch, type Refusal, REFUSALS } from "./receiver-watch.ts";
import { MAX_TOKEN_LENGTH } from "./token.ts";

export interface ReceiverTimeouts {
  /** From the first byte to the last header. Default 5,000. */
  headersMs?: number;
  /** From the first byte to the last of the body. Default 15,000. */
  requestMs?: number;
  /** A connection on which nothing moves. Default 30,000; longer than a signal may take. */
  idleMs?: number;
  /** How often the first two are looked at. Default 1,000. */
  checkEveryMs?: number;
}

export interface ServerOptions {
  watch: ReceiverWatch;
  timeouts?: ReceiverTimeouts | undefined;
  /** Connections open at the same time; one more takes the place of the oldest. Default 1,000. */
  maxConnections?: number | undefined;
}

/** CONNECT asks for a tunnel and never reaches a route. */
export const ROUTED_METHODS = METHODS.filter((method) => method !== "CONNECT");
/** A sender may escape every character of the token. */
const MAX_ESCAPED_TOKEN_LENGTH = MAX_TOKEN_LENGTH * 3;

/** A server without routes that nobody can occupy: neither by many connections, nor by slow or broken requests. */
export function createServer({ watch, timeouts = {}, maxConnections = 1_000 }: ServerOptions): FastifyInstance {
  const { headersMs = 5_000, requestMs = 15_000, idleMs = 30_000, checkEveryMs = 1_000 } = timeouts;
  const connections = new Connections(watch, maxConnections);
  const app = fastify({
    // Its own request log would show the path, and the path is the capability.
    logger: false,
    http: { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: checkEveryMs },
    requestTimeout: requestMs,
    connectionTimeout: idleMs,
    // Proxies that join a path to a base URL add slashes, or double them.
    routerOptions: {
      maxParamLength: MAX_ESCAPED_TOKEN_LENGTH,
      ignoreDuplicateSlashes: true,
      ignoreTrailingSlash: true,
    },
    clientErrorHandler: (error: Error & { code?: string }, socket) => connections.answerBroken(error.code, socket),
    frameworkErrors: (_error: unknown, _request: unknown, reply: { hijack(): unknown; raw: ServerResponse }) => {
      // A path that cannot be decoded names no token.
      watch.refused({ kind: "other" }, "unknown-address");
      reply.hijack();
      reply.raw.writeHead(REFUSALS["unknown-address"], { "content-length": "0" }).end();
    },
  });
  connections.watchServer(app.server);
  // A server that closes no longer looks at its own timeouts, so one slow sender could keep it from ending.
  app.addHook("preClose", (done) => {
    setTimeout(() => connections.giveUpIncomplete(), headersMs).unref();
    done();
  });
  app.addHook("onRequest", (request, _reply, done) => {
    connections.began(request.raw);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    connections.ended(request.raw, reply.statusCode);
    done();
  });
  // As a method "without body", fastify neither reads the body nor judges its content type. The receiver reads it by
  // itself, since neither the method nor the content type of a callback is shown.
  for (const method of ROUTED_METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  return app;
}

interface OpenConnection {
  /** That is being received or answered. */
  request: IncomingMessage | undefined;
  /** A callback or webhook was accepted on it: it is no stranger's, though it may be idle for long. */
  accepted: boolean;
}

/** The open connections, the oldest first. */
class Connections {
  readonly #watch: ReceiverWatch;
  readonly #most: number;
  readonly #open = new Map<Socket, OpenConnection>();

  constructor(watch: ReceiverWatch, most: number) {
    this.#watch = watch;
    this.#most = most;
  }

  watchServer(server: Server): void {
    server.on("connection", (socket) => {
      this.#open.set(socket, { request: undefined, accepted: false });
      socket.once("close", () => this.#open.delete(socket));
      if (this.#open.size > this.#most) this.#giveUpOldest();
    });
  }

  began(request: IncomingMessage): void {
    const connection = this.#open.get(request.socket);
    if (connection) connection.request = request;
  }

  ended(request: IncomingMessage, status: number): void {
    const connection = this.#open.get(request.socket);
    if (!connection) return;
    connection.request = undefined;
    if (status === 202) connection.accepted = true;
  }

  /** What is being answered stays. */
  giveUpIncomplete(): void {
    for (const [socket, { request }] of this.#open) if (request?.complete !== true) this.#giveUp(socket);
  }

  /** Answers what never became a whole request: too slow, too long a head, or no HTTP at all. Then it hangs up. */
  answerBroken(code: string | undefined, socket: Socket): void {
    if (code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const reason = brokenBy(code);
    this.#refuse(socket, reason);
    const status = `${REFUSALS[reason]} ${STATUS_TEXTS[reason]}`;
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
  }

  /**
   * A real sender needs its connection for milliseconds, or keeps one on which callbacks were accepted; so the oldest
   * of the others is idle, or slow. One whose request is being answered stays.
   */
  #giveUpOldest(): void {
    for (const accepted of [false, true]) {
      for (const [socket, connection] of this.#open) {
        if (connection.accepted === accepted && connection.request?.complete !== true) return this.#giveUp(socket);
      }
    }
  }

  #giveUp(socket: Socket): void {
    this.#refuse(socket, "crowded-out");
    this.#open.delete(socket);
    socket.destroy();
  }

  /** A request whose body is being read is counted where it is read. */
  #refuse(socket: Socket, reason: Refusal): void {
    if (this.#open.get(socket)?.request === undefined) this.#watch.refused({ kind: "other" }, reason);
  }
}

const STATUS_TEXTS = {
  "too-slow": "Request Timeout",
  "head-too-large": "Request Header Fields Too Large",
  malformed: "Bad Request",
} as const;

function brokenBy(code: string | undefined): keyof typeof STATUS_TEXTS {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "too-slow";
  return code === "HPE_HEADER_OVERFLOW" ? "head-too-large" : "malformed";
}
