import type { DataConverter, Payload } from "@temporalio/client";
import type { FastifyInstance, FastifyReply } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";

import { countsPerLine, createBoundedServer, type ServerTimeouts } from "../callbacks/index.ts";
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
  timeouts?: ServerTimeouts;
  /** How often refused requests are logged, if there are any. Default 60,000. */
  lineEveryMs?: number;
}

/** Temporal takes payloads of at most 2 MiB, which have a third more in base64. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Each may have a body that is being read. */
const MOST_CONNECTIONS = 100;
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
  const { codec, token, origins, log, timeouts, lineEveryMs = 60_000 } = options;
  const refusals = countsPerLine<Record<number, number>>(
    lineEveryMs,
    () => ({}),
    (refused) => log.warn({ refused }, "requests were refused, by status"),
  );
  const refuse = (reply: FastifyReply, status: number, message: string): FastifyReply => {
    const counts = refusals.current();
    counts[status] = (counts[status] ?? 0) + 1;
    return reply.code(status).send({ message });
  };
  const app = createBoundedServer({ timeouts, maxConnections: MOST_CONNECTIONS, bodyLimitBytes: BODY_LIMIT_BYTES });
  app.addHook("onClose", async () => refusals.close());
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
    // A browser that is asked so shows a form. A page that is asked so would show it to each reader of a workflow.
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

/** As `Bearer <token>`, or as the password of any name, which is what a browser asks a person for. */
function hasToken(authorization: string | undefined, token: string): boolean {
  const [, scheme, value = ""] = /^(Bearer|Basic) (\S+)$/i.exec(authorization ?? "") ?? [];
  if (scheme === undefined) return false;
  const given = scheme.toLowerCase() === "bearer" ? value : passwordOf(value);
  return timingSafeEqual(digestOf(given), digestOf(token));
}

function passwordOf(basic: string): string {
  const named = Buffer.from(basic, "base64").toString();
  return named.slice(named.indexOf(":") + 1);
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
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
