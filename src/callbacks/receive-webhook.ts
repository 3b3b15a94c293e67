import type { FastifyReply, FastifyRequest } from "fastify";

import type { CallbackLog, ReceiverWatch, Refuse } from "./receiver-watch.ts";
import type { BodyReader, InFlight } from "./request-bounds.ts";
import { createSeenEvents, type SharedEvents } from "./seen-events.ts";
import { type AllowanceOptions, createWebhookAllowance } from "./webhook-allowance.ts";
import type { CallbackClient } from "./temporal-signaller.ts";
import { verifyWebhook, type WebhookSource } from "./verify-webhook.ts";

interface WebhookOptions {
  /** By connection; a connection that is not among them has no webhooks. */
  sources: ReadonlyMap<string, WebhookSource>;
  /** Of the receiver. */
  readSecretsAgain: () => Promise<unknown>;
  client: Pick<CallbackClient, "requestSync">;
  /** Of all receivers; undefined: each knows the events that it has seen itself. */
  sharedEvents: SharedEvents | undefined;
  log: CallbackLog;
  watch: ReceiverWatch;
  refuse: Refuse;
  /** Of webhooks alone: anyone can send one, and takes nothing from the callbacks. */
  bodies: BodyReader;
  /** Of those whose signature was verified. */
  inFlight: InFlight;
  /** Webhooks passed on for one connection; beyond, 429. */
  rateLimit: AllowanceOptions | undefined;
  clock: () => number;
}

/**
 * Receives the accounting service's webhooks. Nothing in one is believed but that it is the service's: it asks for a
 * synchronisation, which reads what has changed.
 */
export function createWebhookHandler(
  options: WebhookOptions,
): (request: FastifyRequest<{ Params: { connection: string } }>, reply: FastifyReply) => Promise<FastifyReply> {
  const { sources, readSecretsAgain, client, sharedEvents, log, watch, refuse, bodies, inFlight, clock } = options;
  const takeWebhook = createWebhookAllowance(options.rateLimit);
  const seen = createSeenEvents({ shared: sharedEvents, log, clock });

  async function passOn(reply: FastifyReply, connection: string, eventId: string | undefined): Promise<FastifyReply> {
    const from = { kind: "webhook", connection } as const;
    if (eventId !== undefined && (await seen.has(connection, eventId))) {
      log.debug({ connection, eventId }, "a webhook came again");
      watch.accepted(from);
      return reply.code(202).send();
    }
    const waitMs = takeWebhook(connection, clock());
    if (waitMs > 0) {
      return refuse(reply, from, "rate-limited", { "retry-after": String(Math.ceil(waitMs / 1_000)) });
    }
    const outcome = await client.requestSync(connection).catch(() => "unreachable" as const);
    watch.forwarded(from, outcome);
    if (outcome === "unreachable") return refuse(reply, from, "temporal-away");
    // Only now: one that was not passed on must not count as seen when it comes again.
    if (eventId !== undefined) await seen.add(connection, eventId);
    log.debug({ connection, eventId }, "webhook received");
    watch.accepted(from);
    return reply.code(202).send();
  }

  return async (request, reply) => {
    const { connection } = request.params;
    const source = sources.get(connection);
    if (!source) return refuse(reply, { kind: "webhook" }, "unknown-connection");
    const from = { kind: "webhook", connection } as const;
    const body = await bodies.read(request.raw);
    // If it is cut off, nobody is left to read an answer, and the sender will try again.
    if (typeof body === "string") return refuse(reply, from, body);
    const verify = () => verifyWebhook({ headers: request.headers, body }, source, clock());
    let verified = verify();
    if (verified.kind === "refused") {
      await readSecretsAgain();
      verified = verify();
    }
    if (verified.kind === "refused") return refuse(reply, from, verified.reason);
    return (await inFlight.run(() => passOn(reply, connection, verified.eventId))) ?? refuse(reply, from, "busy");
  };
}
