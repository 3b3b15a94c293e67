import { fastify, type FastifyInstance } from "fastify";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export const HEADERS_MS = 5_000;

export interface ServerTimeouts {
  /** From the first byte to the last header. Default {@link HEADERS_MS}. */
  headersMs?: number;
  /** From the first byte to the last of the body. Default 15,000. */
  requestMs?: number;
  /** A connection on which nothing moves. Default 30,000; longer than a signal may take. */
  idleMs?: number;
  /** How often the first two are looked at. Default 1,000. */
  checkEveryMs?: number;
}

export interface BoundedServerOptions {
  timeouts?: ServerTimeouts | undefined;
  /** Open at the same time; one more is closed. */
  maxConnections: number;
  /** Of one body that the server reads itself. Default 1 MiB. */
  bodyLimitBytes?: number;
  /** Of a parameter in a path. */
  maxParamLength?: number;
  /** Told of what never became a whole request, before its connection is closed. */
  onBroken?: (reason: BrokenBy, socket: Socket) => void;
  /** Told of a path that cannot be decoded, which no hook sees. */
  onUnreadablePath?: () => void;
}

/** Too slow, too long a head, or no HTTP at all. */
export type BrokenBy = "too-slow" | "head-too-large" | "malformed";

const ANSWERS: Readonly<Record<BrokenBy, string>> = {
  "too-slow": "408 Request Timeout",
  "head-too-large": "431 Request Header Fields Too Large",
  malformed: "400 Bad Request",
};

/**
 * A server without routes, for any sender. Slow and broken requests do not occupy it, and are answered without a
 * word of theirs; of too many connections the next is closed; a slow sender does not keep it from ending.
 */
export function createBoundedServer(options: BoundedServerOptions): FastifyInstance {
  const { headersMs = HEADERS_MS, requestMs = 15_000, idleMs = 30_000, checkEveryMs = 1_000 } = options.timeouts ?? {};
  const { maxConnections, bodyLimitBytes, maxParamLength, onBroken, onUnreadablePath } = options;
  const app = fastify({
    // Its own request log would show the path, which may be a capability.
    logger: false,
    http: { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: checkEveryMs },
    requestTimeout: requestMs,
    connectionTimeout: idleMs,
    ...(bodyLimitBytes !== undefined && { bodyLimit: bodyLimitBytes }),
    // Proxies that join a path to a base URL add slashes, or double them.
    routerOptions: {
      ...(maxParamLength !== undefined && { maxParamLength }),
      ignoreDuplicateSlashes: true,
      ignoreTrailingSlash: true,
    },
    clientErrorHandler: ({ code }: Error & { code?: string }, socket) => {
      if (code === "ECONNRESET" || !socket.writable) {
        socket.destroy();
        return;
      }
      const reason = brokenBy(code);
      onBroken?.(reason, socket);
      socket.end(`HTTP/1.1 ${ANSWERS[reason]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
        socket.destroy(),
      );
    },
    frameworkErrors: (_error: unknown, _request: unknown, reply: { hijack(): unknown; raw: ServerResponse }) => {
      onUnreadablePath?.();
      reply.hijack();
      reply.raw.writeHead(404, { "content-length": "0" }).end();
    },
  });
  app.server.maxConnections = maxConnections;
  // A server that closes no longer looks at its own timeouts, so one slow sender could keep it from ending.
  app.addHook("preClose", (done) => {
    setTimeout(() => app.server.closeAllConnections(), headersMs).unref();
    done();
  });
  return app;
}

function brokenBy(code: string | undefined): BrokenBy {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "too-slow";
  return code === "HPE_HEADER_OVERFLOW" ? "head-too-large" : "malformed";
}
