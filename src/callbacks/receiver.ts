import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { METHODS, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { readBody } from "./read-body.ts";
import { type CallbackLog, createWebhookHandler } from "./receive-webhook.ts";
import type { SharedEvents } from "./seen-events.ts";
import { type AllowanceOptions, createSignalAllowance } from "./signal-allowance.ts";
import type { CallbackClient, SignalOutcome } from "./temporal-signaller.ts";
import { MAX_TOKEN_LENGTH, verifyCallbackToken } from "./token.ts";
import type { WebhookSource } from "./verify-webhook.ts";

interface ReceiverTimeouts {
  /** From the first byte to the last header. Default 5,000. */
  headersMs?: number;
  /** From the first byte to the last of the body. Default 15,000. */
  requestMs?: number;
  /** A connection on which nothing moves. Default 30,000; longer than a signal may take. */
  idleMs?: number;
  /** How often the first two are looked at. Default 1,000. */
  checkEveryMs?: number;
}

export interface ReceiverOptions {
  /** All that verify; at least one. They are asked for with each callback, so that they may change. */
  secrets: Iterable<string>;
  /**
   * Waited for before a callback or a webhook that no secret verifies is refused: it may be signed with a secret that
   * the signer has read already. Anybody can bring it about, so it must be cheap however often it is called.
   */
  readSecretsAgain?: () => Promise<unknown>;
  /** Accounting connections whose webhooks are received, by name. Default: none. */
  webhooks?: ReadonlyMap<string, WebhookSource>;
  /** Which webhooks any receiver has passed on. Default: each receiver knows its own. */
  sharedEvents?: SharedEvents | undefined;
  client: CallbackClient;
  log: CallbackLog;
  /** Default 1 MiB. */
  bodyLimitBytes?: number;
  timeouts?: ReceiverTimeouts;
  /**
   * Callbacks with a valid token that are read or signalled at the same time; the next is answered 429. Default 200.
   */
  maxInFlight?: number;
  /**
   * Webhooks that are read, verified or passed on at the same time; the next is answered 429. Default 50. Anyone can
   * send one, and who sent it is known once its body is there: they are counted apart, so that they take nothing from
   * the callbacks.
   */
  maxWebhooksInFlight?: number;
  /** Connections open at the same time; the next is closed. Default 1,000. */
  maxConnections?: number;
  /** Callbacks accepted for one workflow; beyond, 429. */
  rateLimit?: AllowanceOptions;
  clock?: () => number;
}

/** CONNECT asks for a tunnel and never reaches a route. */
const ROUTED_METHODS = METHODS.filter((method) => method !== "CONNECT");
const REFUSED_METHODS = ["HEAD", "OPTIONS"];
/** The check costs Temporal a request, and anyone may ask. */
const CHECK_LASTS_MS = 1_000;
const WEBHOOK_PATH = "/webhooks/accounting/:connection";
/** A sender may escape every character of the token. */
const MAX_ESCAPED_TOKEN_LENGTH = MAX_TOKEN_LENGTH * 3;

/**
 * The receiver of result callbacks; not yet listening. A callback is a hint: its token names a workflow, the workflow
 * is signalled to read its document, and nothing in the body is believed. Answers are empty, and no token is ever
 * logged.
 *
 * @throws RangeError without a secret
 */
export function createCallbackReceiver(options: ReceiverOptions): FastifyInstance {
  const { secrets, client, log, bodyLimitBytes = 1024 * 1024, clock = Date.now } = options;
  const { readSecretsAgain = () => Promise.resolve() } = options;
  const atStart = [...secrets];
  if (atStart.length === 0 || atStart.includes("")) {
    throw new RangeError("The callback receiver needs at least one secret, and none that is empty.");
  }
  const takeSignal = createSignalAllowance(options.rateLimit);
  const isReachable = rememberAnswer(() => client.isReachable().catch(() => false), CHECK_LASTS_MS, clock);
  const callbacks = new InFlight(options.maxInFlight ?? 200);

  async function receive(request: FastifyRequest, reply: FastifyReply, workflowId: string): Promise<FastifyReply> {
    const body = await readBody(request.raw, bodyLimitBytes);
    if (body === "too-large") return reply.code(413).header("connection", "close").send();
    // Nobody is left to read an answer, and the sender will try again.
    if (body === "cut-off") return reply.code(408).send();
    const waitMs = takeSignal(workflowId, clock());
    if (waitMs > 0) {
      log.warn({ workflowId }, "more callbacks for one workflow than are passed on");
      return tooMany(reply, waitMs);
    }
    const event = callbackEvent(body);
    const outcome = await client
      .signalCallback(workflowId, event === undefined ? {} : { event })
      .catch((): SignalOutcome => "unreachable");
    if (outcome === "unreachable") {
      log.warn({ workflowId }, "Temporal did not accept a callback's signal; the sender is asked to try again");
      return reply.code(503).header("retry-after", "10").send();
    }
    log.debug({ workflowId, outcome, event }, "callback received");
    return reply.code(202).send();
  }

  const app = createServer(options);
  app.route<{ Params: { token: string } }>({
    method: ROUTED_METHODS.filter((method) => !REFUSED_METHODS.includes(method)),
    url: "/callbacks/:token",
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const verify = () => verifyCallbackToken(request.params.token, secrets);
      const workflowId = verify() ?? (await readSecretsAgain().then(verify));
      if (workflowId === undefined) return reply.code(404).send();
      return (await callbacks.run(() => receive(request, reply, workflowId))) ?? tooMany(reply, 1_000);
    },
  });
  app.route({
    method: REFUSED_METHODS,
    url: "/callbacks/:token",
    handler: (_request, reply) => reply.code(405).header("allow", "GET, POST, PUT, PATCH, DELETE").send(),
  });
  const { webhooks = new Map<string, WebhookSource>(), sharedEvents, rateLimit } = options;
  const around = { readSecretsAgain, client, sharedEvents, log, bodyLimitBytes, rateLimit, clock };
  const receiveWebhook = createWebhookHandler({ sources: webhooks, ...around });
  const unverified = new InFlight(options.maxWebhooksInFlight ?? 50);
  app.route<{ Params: { connection: string } }>({
    method: ["POST", "PUT"],
    url: WEBHOOK_PATH,
    handler: async (request, reply) =>
      (await unverified.run(() => receiveWebhook(request, reply))) ?? tooMany(reply, 1_000),
  });
  // Providers ask whether the address is there before they send to it. Nothing is accepted, so the answer is not 202.
  app.route<{ Params: { connection: string } }>({
    method: ["GET", "HEAD", "OPTIONS"],
    url: WEBHOOK_PATH,
    exposeHeadRoute: false,
    handler: (request, reply) => {
      if (!webhooks.has(request.params.connection)) return reply.code(404).send();
      return reply
        .code(request.method === "OPTIONS" ? 204 : 200)
        .header("allow", "POST, PUT, GET, HEAD, OPTIONS")
        .send();
    },
  });
  app.get("/healthz", (_request, reply) => reply.send({ status: "alive" }));
  app.get("/readyz", async (_request, reply) => {
    const reachable = await isReachable();
    return reply.code(reachable ? 200 : 503).send({ status: reachable ? "ready" : "Temporal cannot be reached" });
  });
  return app;
}

function createServer({ log, timeouts = {}, maxConnections = 1_000 }: ReceiverOptions): FastifyInstance {
  const { headersMs = 5_000, requestMs = 15_000, idleMs = 30_000, checkEveryMs = 1_000 } = timeouts;
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
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerBadUrl,
  });
  app.server.maxConnections = maxConnections;
  // As a method "without body", fastify neither reads the body nor judges its content type. The receiver reads it by
  // itself, since neither the method nor the content type of a callback is shown.
  for (const method of ROUTED_METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send());
  app.setErrorHandler((error, _request, reply) => {
    // The message may quote the URL; the name does not.
    log.warn({ error: error instanceof Error ? error.name : typeof error }, "the callback receiver failed");
    return reply.code(503).send();
  });
  return app;
}

/** Asks once for all who want to know within the time that an answer lasts. */
function rememberAnswer(ask: () => Promise<boolean>, lastsMs: number, clock: () => number): () => Promise<boolean> {
  let last: { answer: Promise<boolean>; untilMs: number } | undefined;
  return () => {
    if (last === undefined || clock() >= last.untilMs) last = { answer: ask(), untilMs: clock() + lastsMs };
    return last.answer;
  };
}

/** A path that cannot be decoded names no token. */
function answerBadUrl(_error: unknown, _request: unknown, reply: { hijack(): unknown; raw: ServerResponse }): void {
  reply.hijack();
  reply.raw.writeHead(404, { "content-length": "0" }).end();
}

function tooMany(reply: FastifyReply, waitMs: number): FastifyReply {
  return reply
    .code(429)
    .header("retry-after", String(Math.ceil(waitMs / 1_000)))
    .send();
}

/** Answers what never became a request: too slow, too long a head, or no HTTP at all. Then the connection is closed. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${statusLine(error.code)}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
    socket.destroy(),
  );
}

function statusLine(code: string | undefined): string {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  if (code === "HPE_HEADER_OVERFLOW") return "431 Request Header Fields Too Large";
  return "400 Bad Request";
}

/** Counts what is done at the same time, and does no more than so much. */
class InFlight {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Undefined: as many as may be are under way. */
  async run<T>(act: () => Promise<T>): Promise<T | undefined> {
    if (this.#count >= this.#most) return undefined;
    this.#count += 1;
    try {
      return await act();
    } finally {
      this.#count -= 1;
    }
  }
}

/** What a display can show on one line: no control characters, no lone surrogates. */
const EVENT_PATTERN = /^\P{C}{1,64}$/u;

/**
 * The `event` of a callback's body, where the body is a JSON object with a string of 1 to 64 characters by that name.
 * The body of a callback is not shown in the documents and is not believed: this is for display only, and anything
 * else is undefined rather than an error.
 */
export function callbackEvent(body: Buffer): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null || !("event" in parsed)) return undefined;
  const { event } = parsed;
  return typeof event === "string" && EVENT_PATTERN.test(event) ? event : undefined;
}
