import type { DataConverter, Payload } from "@temporalio/client";
import { fastify, type FastifyInstance, type FastifyReply } from "fastify";
import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";

import { isUndecodable } from "../payloads/index.ts";

type PayloadCodec = NonNullable<DataConverter["payloadCodecs"]>[number];

export interface CodecServerOptions {
  codec: PayloadCodec;
  /** Asked for with each request, so that it may change. */
  token: () => string;
  /** Of web pages that may ask, such as `https://temporal.example.com`: Temporal's UI. */
  origins: readonly string[];
}

/** Temporal takes payloads of at most 2 MiB, which have a third more in base64. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
const HEADERS_MS = 5_000;
const REQUEST_MS = 15_000;
/** What Temporal's UI and CLI send beside the body. */
const ALLOWED_HEADERS = "authorization, content-type, x-namespace";

/** Temporal's payloads as JSON: metadata and data in base64. */
const bodySchema = z.object({
  payloads: z
    .array(
      z.object({
        metadata: z.record(z.string(), z.base64()).nullish(),
        data: z.base64().nullish(),
      }),
    )
    .default([]),
});

/**
 * The codec as a server, by Temporal's protocol for its UI and CLI ("Codec Server", HTTP API): `POST /encode` and
 * `/decode` of `{"payloads": […]}`; not yet listening. `GET /` is where a browser asks for the token. A payload that no
 * key here decrypts is answered as it came. No answer to a refused request has a word of a payload.
 */
export function createCodecServer({ codec, token, origins }: CodecServerOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_MS,
    http: { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS },
  });
  // Before the body is read: who may not ask sends no more than a head.
  app.addHook("onRequest", async (request, reply) => {
    const { origin, authorization } = request.headers;
    if (request.url === "/healthz") return;
    if (origin !== undefined) {
      if (!origins.includes(origin)) return await refuse(reply, 403, "This origin is not allowed.");
      reply.headers({
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
        vary: "origin",
      });
    }
    if (request.method === "OPTIONS") return;
    if (hasToken(authorization, token())) return;
    // A browser that is asked so shows a form. A page that is asked so would show it to whoever reads a workflow.
    if (request.url === "/") reply.header("www-authenticate", 'Basic realm="fiscalflow codec"');
    await refuse(reply, 401, "The token is missing or wrong.");
  });
  app.get("/healthz", (_request, reply) => reply.send({ status: "alive" }));
  app.get("/", (_request, reply) =>
    reply.type("text/plain").send("This browser may decode payloads now. Go back to Temporal's UI.\n"),
  );
  for (const [path, convert] of [
    ["/encode", (payloads: Payload[]) => codec.encode(payloads)],
    ["/decode", (payloads: Payload[]) => decodedEach(codec, payloads)],
  ] as const) {
    app.options(path, (_request, reply) =>
      reply
        .code(204)
        .headers({ "access-control-allow-methods": "POST", "access-control-allow-headers": ALLOWED_HEADERS })
        .send(),
    );
    app.post(path, async (request, reply) => {
      const body = bodySchema.safeParse(request.body);
      if (!body.success) return await refuse(reply, 400, 'Expected {"payloads": [{"metadata": {}, "data": ""}]}.');
      return { payloads: (await convert(body.data.payloads.map(fromJson))).map(toJson) };
    });
  }
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, "There is /encode and /decode."));
  // A parser's message quotes what it could not parse.
  app.setErrorHandler(({ statusCode = 500 }: { statusCode?: number }, _request, reply) =>
    refuse(reply, statusCode, REASONS[statusCode] ?? "The request could not be answered."),
  );
  return app;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Expected JSON.",
  413: "Expected a body of at most 4 MiB.",
  415: "Expected the content type application/json.",
};

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ message });
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

async function decodedEach(codec: PayloadCodec, payloads: readonly Payload[]): Promise<Payload[]> {
  return await Promise.all(
    payloads.map(async (payload) => {
      try {
        const [decoded = payload] = await codec.decode([payload]);
        return decoded;
      } catch (error) {
        if (isUndecodable(error)) return payload;
        throw error;
      }
    }),
  );
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
