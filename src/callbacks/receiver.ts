import type { MetricMeter } from "@temporalio/common";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { METHODS } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { rememberAnswer } from "../http/deadline.ts";
import { BodyReader } from "./body-reader.ts";
import { createBoundedServer, type ServerTimeouts } from "./bounded-server.ts";
import { MAX_TOKEN_LENGTH, verifyCallbackToken } from "./callback-token.ts";
import { type CallbackLog, ReceiverWatch, refuseWith, type Source } from "./receiver-watch.ts";
import { type CallbackClient, PacedTurns, SignalPace } from "./temporal-signaller.ts";
import { createWebhookHandler, fieldOf, type WebhookSource } from "./webhooks.ts";

interface ServerOptions {
  watch: ReceiverWatch;
  timeouts?: ServerTimeouts | undefined;
  maxConnections?: number | undefined;
}

/** CONNECT asks for a tunnel and never reaches a route. */
const ROUTED_METHODS = METHODS.filter((method) => method !== "CONNECT");
/** A sender may escape every character of the token. */
const MAX_ESCAPED_TOKEN_LENGTH = MAX_TOKEN_LENGTH * 3;

/** A server without routes, which counts what it refuses. */
function createServer({ watch, timeouts, maxConnections = 1_000 }: ServerOptions): FastifyInstance {
  /** With a request that is being received or answered: what breaks it is counted with that request. */
  const busy = new WeakSet<Socket>();
  const app = createBoundedServer({
    timeouts,
    maxConnections,
    maxParamLength: MAX_ESCAPED_TOKEN_LENGTH,
    onBroken: (reason, socket) => {
      if (!busy.has(socket)) watch.refused({ kind: "other" }, reason);
    },
    // It names no token.
    onUnreadablePath: () => watch.refused({ kind: "other" }, "unknown-address"),
  });
  app.server.on("drop", () => watch.refused({ kind: "other" }, "busy"));
  app.addHook("onRequest", (request, _reply, done) => {
    busy.add(request.raw.socket);
    done();
  });
  app.addHook("onResponse", (request, _reply, done) => {
    busy.delete(request.raw.socket);
    done();
  });
  // As a method "without body", fastify neither reads the body nor judges its content type. The receiver reads it by
  // itself, since neither the method nor the content type of a callback is shown.
  for (const method of ROUTED_METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  return app;
}

export interface ReceiverOptions {
  /** All that verify; at least one. They are asked for with each callback, so that they may change. */
  secrets: Iterable<string>;
  /**
   * Done before a callback or a webhook that no secret verifies is refused, at most once a second: it may be signed with
   * a secret that the signer has read already.
   */
  readSecretsAgain?: () => void;
  /** Accounting connections whose webhooks are received, by name. Default: none. */
  webhooks?: ReadonlyMap<string, WebhookSource>;
  client: CallbackClient;
  log: CallbackLog;
  /** Default: nothing is measured. */
  meter?: MetricMeter | undefined;
  /** Of one body. Default 1 MiB. */
  bodyLimitBytes?: number;
  timeouts?: ServerTimeouts;
  /** Callbacks that are signalled at the same time; the next is held. Default 200. */
  maxInFlight?: number;
  /** Callbacks that are held until their turn. Default 10,000. */
  maxHeld?: number;
  /** After which one more is answered 429, unless there is a place by then. Default 3,000. */
  refusedAfterMs?: number;
  /** Of all bodies of callbacks, and as much of all bodies of webhooks, that are read at once. Default 16 MiB. */
  bodiesLimitBytes?: number;
  /** Connections open at the same time; one more is closed. Default 1,000. */
  maxConnections?: number;
  /** How often refused requests are logged, if there are any. Default 60,000. */
  lineEveryMs?: number;
  clock?: () => number;
}

const CALLBACK_PATH = "/callbacks/:token";
const WEBHOOK_PATH = "/webhooks/accounting/:connection";
/** One pass of a synchronisation reads all that has changed. */
const LONGEST_SYNC_PAUSE_MS = 60_000;
const REFUSED_METHODS = ["HEAD", "OPTIONS"];
const CALLBACK: Source = { kind: "callback" };
/** The check costs Temporal a request, and anyone may ask. */
const CHECK_LASTS_MS = 1_000;
/** Anybody can send what no secret verifies. */
const READ_AGAIN_EVERY_MS = 1_000;

/**
 * The receiver of result callbacks; not yet listening. A callback is a hint: its token names a workflow, the workflow
 * is signalled to read its document, and nothing in the body is believed. Answers are empty, and no token is ever
 * logged.
 *
 * @throws RangeError without a secret
 */
export function createCallbackReceiver(options: ReceiverOptions): FastifyInstance {
  const { secrets, client, log, bodyLimitBytes = 1024 * 1024, clock = Date.now, meter, lineEveryMs } = options;
  const readSecretsAgain = rememberAnswer(() => options.readSecretsAgain?.(), READ_AGAIN_EVERY_MS, clock);
  const atStart = [...secrets];
  if (atStart.length === 0 || atStart.includes("")) {
    throw new RangeError("The callback receiver needs at least one secret, and none that is empty.");
  }
  const watch = new ReceiverWatch({ log, meter, lineEveryMs });
  const refuse = refuseWith(watch);
  const { maxInFlight, maxHeld, refusedAfterMs = 3_000 } = options;
  const pace = new SignalPace({
    turns: new PacedTurns({ behindMs: () => client.workersBehindMs(), maxInFlight, maxWaiting: maxHeld }),
    signal: (workflowId, event) => client.signalCallback(workflowId, event === undefined ? {} : { event }),
  });
  const isReachable = rememberAnswer(() => client.isReachable().catch(() => false), CHECK_LASTS_MS, clock);
  const { bodiesLimitBytes = 16 * 1024 * 1024 } = options;
  const bodyLimits = { limitBytes: bodyLimitBytes, totalBytes: bodiesLimitBytes };
  const bodies = new BodyReader(bodyLimits);

  async function receive(request: FastifyRequest, reply: FastifyReply, workflowId: string): Promise<FastifyReply> {
    const body = await bodies.read(request.raw);
    // If it is cut off, nobody is left to read an answer, and the sender will try again.
    if (typeof body === "string") return refuse(reply, CALLBACK, body);
    const event = callbackEvent(body);
    let outcome = await pace.pass(workflowId, event);
    if (outcome === "busy") {
      // Nobody knows how soon the service comes again: this slows it down.
      await delay(refusedAfterMs);
      outcome = await pace.pass(workflowId, event);
      if (outcome === "busy") return refuse(reply, CALLBACK, "busy");
    }
    watch.forwarded(CALLBACK, outcome);
    if (outcome === "unreachable") return refuse(reply, CALLBACK, "temporal-away");
    log.debug({ workflowId, outcome, event }, "callback received");
    watch.accepted(CALLBACK);
    return reply.code(202).send();
  }

  const app = createServer({ watch, timeouts: options.timeouts, maxConnections: options.maxConnections });
  app.route<{ Params: { token: string } }>({
    method: ROUTED_METHODS.filter((method) => !REFUSED_METHODS.includes(method)),
    url: CALLBACK_PATH,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const verify = () => verifyCallbackToken(request.params.token, secrets);
      let workflowId = verify();
      if (workflowId === undefined) {
        readSecretsAgain();
        workflowId = verify();
      }
      if (workflowId === undefined) return refuse(reply, CALLBACK, "unknown-token");
      return await receive(request, reply, workflowId);
    },
  });
  app.route({
    method: REFUSED_METHODS,
    url: CALLBACK_PATH,
    handler: (_request, reply) => refuse(reply, CALLBACK, "method", { allow: "GET, POST, PUT, PATCH, DELETE" }),
  });
  const { webhooks = new Map<string, WebhookSource>() } = options;
  const syncPace = new SignalPace({
    signal: (connection) => client.requestSync(connection),
    longestPauseMs: LONGEST_SYNC_PAUSE_MS,
  });
  app.route<{ Params: { connection: string } }>({
    method: ["POST", "PUT"],
    url: WEBHOOK_PATH,
    handler: createWebhookHandler({
      sources: webhooks,
      readSecretsAgain,
      log,
      watch,
      refuse,
      bodies: new BodyReader(bodyLimits),
      pace: syncPace,
      clock,
    }),
  });
  // Providers ask whether the address is there before they send to it. Nothing is accepted, so the answer is not 202.
  app.route<{ Params: { connection: string } }>({
    method: ["GET", "HEAD", "OPTIONS"],
    url: WEBHOOK_PATH,
    exposeHeadRoute: false,
    handler: (request, reply) => {
      if (!webhooks.has(request.params.connection)) return refuse(reply, { kind: "webhook" }, "unknown-connection");
      const status = request.method === "OPTIONS" ? 204 : 200;
      return reply.code(status).header("allow", "POST, PUT, GET, HEAD, OPTIONS").send();
    },
  });
  app.get("/healthz", (_request, reply) => reply.send({ status: "alive" }));
  app.get("/readyz", async (_request, reply) => {
    const reachable = await isReachable();
    return reply.code(reachable ? 200 : 503).send({ status: reachable ? "ready" : "Temporal cannot be used" });
  });
  app.setNotFoundHandler((request, reply) => refuse(reply, { kind: kindOf(request) }, "unknown-address"));
  app.setErrorHandler((error, request, reply) => {
    // The message may quote the URL; the name does not.
    log.debug({ error: error instanceof Error ? error.name : typeof error }, "the callback receiver failed");
    return refuse(reply, { kind: kindOf(request) }, "failed");
  });
  app.addHook("onResponse", (request, reply, done) => {
    const kind = kindOf(request);
    // A probe is neither.
    const isAnswer = reply.statusCode === 202 || reply.statusCode >= 400;
    if (kind !== "other" && isAnswer) watch.answered({ kind }, reply.statusCode, reply.elapsedTime);
    done();
  });
  app.addHook("onClose", async () => {
    await Promise.all([pace.close(), syncPace.close()]);
    watch.close();
  });
  return app;
}

/** By the route, not by the path, of which anyone makes what he likes. */
function kindOf(request: FastifyRequest): Source["kind"] {
  const { url } = request.routeOptions;
  if (url === CALLBACK_PATH) return "callback";
  return url === WEBHOOK_PATH ? "webhook" : "other";
}

/** What a display can show on one line: no control characters, no lone surrogates. */
const EVENT_PATTERN = /^\P{C}{1,64}$/u;

/**
 * The `event` of a callback's body, where the body is a JSON object with a string of 1 to 64 characters by that name.
 * The body of a callback is not shown in the documents and is not believed: this is for display only, and anything
 * else is undefined rather than an error.
 */
export function callbackEvent(body: Buffer): string | undefined {
  const event = fieldOf(body, "event");
  return typeof event === "string" && EVENT_PATTERN.test(event) ? event : undefined;
}
