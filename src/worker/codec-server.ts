import type { DataConverter, Payload } from "@temporalio/client";
import { fastify, type FastifyInstance, type FastifyReply } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import { z } from "zod";

import { isUndecodable } from "../payloads/index.ts";

type PayloadCodec = NonNullable<DataConverter["payloadCodecs"]>[number];

/** The part of a pino logger that the server uses. */
interface CodecLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface CodecServerOptions {
  codec: PayloadCodec;
  /** Asked for with each request, so that it may change. */
  token: () => string;
  /** Of web pages that may ask, such as `https://temporal.example.com`: Temporal's UI. */
  origins: readonly string[];
  log: CodecLog;
  /** From the first byte to the last header, and to the last of the body. Default 5,000 and 15,000. */
  timeouts?: { headersMs: number; requestMs: number };
  /** How often refused requests are logged, if there are any. Default 60,000. */
  lineEveryMs?: number;
}

/** Temporal takes payloads of at most 2 MiB, which have a third more in base64. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Each may have a body that is being read. */
const MOST_CONNECTIONS = 100;
const CHECK_EVERY_MS = 1_000;
const IDLE_MS = 30_000;
/** What Temporal's UI and CLI send beside the body. */
const PREFLIGHT = {
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "authorization, authorization-extras, content-type, x-namespace",
  "access-control-max-age": "600",
};

/** Temporal's payloads as JSON: metadata and data in base64. */
const bodySchema = z.object({
  payloads: z
    .array(
      // With what it may hold beside: one that is not decoded is answered as it came.
      z.looseObject({
        metadata: z.record(z.string(), z.base64()).nullish(),
        data: z.base64().nullish(),
      }),
    )
    .default([]),
});

/**
 * The codec as a server, by Temporal's protocol for its UI and CLI ("Codec Server", HTTP API): `POST /encode` and
 * `/decode` of `{"payloads": […]}`; not yet listening. `GET /` is where a browser asks for the token. A payload that no
 * key here decrypts is answered as it came. No answer to a refused request has a word of it.
 */
export function createCodecServer(options: CodecServerOptions): FastifyInstance {
  const { codec, token, origins, log, lineEveryMs = 60_000 } = options;
  const { headersMs, requestMs } = options.timeouts ?? { headersMs: 5_000, requestMs: 15_000 };
  const refusals = countedRefusals(log, lineEveryMs);
  const refuse = (reply: FastifyReply, status: number, message: string): FastifyReply => {
    refusals.count(status);
    return reply.code(status).send({ message });
  };
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: requestMs,
    connectionTimeout: IDLE_MS,
    http: { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: CHECK_EVERY_MS },
    routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true },
    clientErrorHandler: (_error, socket) => {
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", () => socket.destroy());
    },
    // A path that cannot be decoded, which no hook sees.
    frameworkErrors: (_error: unknown, _request: unknown, reply: { hijack(): unknown; raw: ServerResponse }) => {
      reply.hijack();
      reply.raw.writeHead(404, { "content-length": "0" }).end();
    },
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  // A server that closes no longer looks at its own timeouts, so one slow sender could keep it from ending.
  app.addHook("preClose", (done) => {
    setTimeout(() => app.server.closeAllConnections(), headersMs).unref();
    done();
  });
  app.addHook("onClose", async () => refusals.end());
  // Before the body is read: who may not ask sends no more than a head.
  app.addHook("onRequest", async (request, reply) => {
    const { origin, authorization } = request.headers;
    const [path] = request.url.split("?", 1);
    const isRead = request.method === "GET" || request.method === "HEAD";
    reply.header("cache-control", "no-store");
    if (path === "/healthz" && isRead) return;
    if (origin !== undefined) {
      if (!origins.includes(origin)) return await refuse(reply, 403, "This origin is not allowed.");
      reply.headers({
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
        vary: "origin",
      });
    }
    if (request.method === "OPTIONS") return await reply.code(204).headers(PREFLIGHT).send();
    if (hasToken(authorization, token())) return;
    // A browser that is asked so shows a form. A page that is asked so would show it to whoever reads a workflow.
    if (isRead) reply.header("www-authenticate", 'Basic realm="fiscalflow codec", charset="UTF-8"');
    return await refuse(reply, 401, "The token is missing or wrong.");
  });
  app.get("/healthz", (_request, reply) => reply.send({ status: "alive" }));
  app.get("/", (_request, reply) =>
    reply.type("text/plain").send("This browser may decode payloads now. Go back to Temporal's UI.\n"),
  );
  for (const [path, convert] of [
    ["/encode", async (payloads: JsonPayload[]) => (await codec.encode(payloads.map(fromJson))).map(toJson)],
    ["/decode", (payloads: JsonPayload[]) => Promise.all(payloads.map((payload) => decoded(codec, payload)))],
  ] as const)
    app.post(path, async (request, reply) => {
      const body = bodySchema.safeParse(request.body);
      if (!body.success) return await refuse(reply, 400, 'Expected {"payloads": [{"metadata": {}, "data": ""}]}.');
      return { payloads: await convert(body.data.payloads) };
    });
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, "There is /encode and /decode."));
  // A parser's message quotes what it could not parse.
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) log.error({ error: error.name }, "the codec server failed");
    return refuse(reply, statusCode, REASONS[statusCode] ?? "The request could not be answered.");
  });
  return app;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Expected JSON.",
  413: "Expected a body of at most 4 MiB.",
  415: "Expected the content type application/json.",
};

/** Anybody can send what is refused: one line at a time says how much that was, by the status of its answer. */
function countedRefusals(log: CodecLog, everyMs: number) {
  let byStatus: Record<number, number> = {};
  const tell = (): void => {
    if (Object.keys(byStatus).length > 0) log.warn({ refused: byStatus }, "requests were refused, by status");
    byStatus = {};
  };
  const timer = setInterval(tell, everyMs).unref();
  return {
    count: (status: number): void => void (byStatus[status] = (byStatus[status] ?? 0) + 1),
    end: (): void => {
      clearInterval(timer);
      tell();
    },
  };
}

/** As `Bearer <token>`, or as the password of any name, which is what a browser asks a person for. */
function hasToken(authorization: string | undefined, token: string): boolean {
  const [, scheme, value = ""] = /^(Bearer|Basic) (\S+)$/i.exec(authorization ?? "") ?? [];
  if (scheme === undefined) return false;
  const isBearer = scheme.toLowerCase() === "bearer";
  const given = isBearer
    ? value
    : Buffer.from(value, "base64")
        .toString()
        .replace(/^[^:]*:/, "");
  const [one, other] = [given, token].map((text) => createHash("sha256").update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

async function decoded(codec: PayloadCodec, asItCame: JsonPayload): Promise<JsonPayload> {
  try {
    const given = fromJson(asItCame);
    const [payload = given] = await codec.decode([given]);
    return payload === given ? asItCame : toJson(payload);
  } catch (error) {
    if (isUndecodable(error)) return asItCame;
    throw error;
  }
}

type JsonPayload = z.output<typeof bodySchema>["payloads"][number];

function fromJson({ metadata, data }: JsonPayload): Payload {
  const bytes = Object.entries(metadata ?? {}).map(([name, text]) => [name, Buffer.from(text, "base64")]);
  return { metadata: Object.fromEntries(bytes) as Record<string, Uint8Array>, data: Buffer.from(data ?? "", "base64") };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const texts = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
  return {
    metadata: Object.fromEntries(texts) as Record<string, string>,
    data: Buffer.from(data ?? []).toString("base64"),
  };
}
