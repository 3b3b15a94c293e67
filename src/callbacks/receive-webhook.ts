import type { FastifyReply, FastifyRequest } from "fastify";
import { readBody } from "./read-body.ts";
import { createSeenEvents, type SharedEvents } from "./seen-events.ts";
import { type AllowanceOptions, createSignalAllowance } from "./signal-allowance.ts";
import type { CallbackClient } from "./temporal-signaller.ts";
import { verifyWebhook, type WebhookSource } from "./verify-webhook.ts";

/** The part of a pino logger that the receiver uses. */
export interface CallbackLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface WebhookOptions {
  /** By connection; a connection that is not among them has no webhooks. */
  sources: ReadonlyMap<string, WebhookSource>;
  /** Of the receiver. */
  readSecretsAgain: () => Promise<unknown>;
  client: Pick<CallbackClient, "requestSync">;
  /** Of all receivers; undefined: each knows the events that it has seen itself. */
  sharedEvents: SharedEvents | undefined;
  log: CallbackLog;
  bodyLimitBytes: number;
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
  const { sources, readSecretsAgain, client, sharedEvents, log, bodyLimitBytes, clock } = options;
  const takeSignal = createSignalAllowance(options.rateLimit);
  const seen = createSeenEvents({ shared: sharedEvents, log, clock });
  return async (request, reply) => {
    const { connection } = request.params;
    const source = sources.get(connection);
    if (!source) return reply.code(404).send();
    const body = await readBody(request.raw, bodyLimitBytes);
    if (body === "too-large") return reply.code(413).header("connection", "close").send();
    // Nobody is left to read an answer, and the sender will try again.
    if (body === "cut-off") return reply.code(408).send();
    const verify = () => verifyWebhook({ headers: request.headers, body }, source, clock());
    let verified = verify();
    if (verified.kind === "refused") {
      await readSecretsAgain();
      verified = verify();
    }
    if (verified.kind === "refused") {
      log.warn({ connection, why: verified.why }, "a webhook was refused");
      return reply.code(401).send();
    }
    const { eventId } = verified;
    if (eventId !== undefined && (await seen.has(connection, eventId))) {
      log.debug({ connection, eventId }, "a webhook came again");
      return reply.code(202).send();
    }
    const waitMs = takeSignal(connection, clock());
    if (waitMs > 0) {
      log.warn({ connection }, "more webhooks of one connection than are passed on");
      return reply
        .code(429)
        .header("retry-after", String(Math.ceil(waitMs / 1_000)))
        .send();
    }
    const outcome = await client.requestSync(connection).catch(() => "unreachable" as const);
    if (outcome === "unreachable") {
      log.warn({ connection }, "Temporal did not accept a webhook's signal; the sender is asked to try again");
      return reply.code(503).header("retry-after", "10").send();
    }
    // Only now: one that was not passed on must not count as seen when it comes again.
    if (eventId !== undefined) await seen.add(connection, eventId);
    log.debug({ connection, eventId }, "webhook received");
    return reply.code(202).send();
  };
}
