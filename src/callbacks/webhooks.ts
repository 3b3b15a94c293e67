import type { FastifyReply, FastifyRequest } from "fastify";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { field, parseJson } from "../http/json.ts";
import type { BodyReader } from "./body-reader.ts";
import type { CallbackLog, ReceiverWatch, Refusal, Refuse } from "./receiver-watch.ts";
import type { SignalPace } from "./temporal-signaller.ts";

/**
 * How a webhook of the accounting service is shaped: the document does not show it (dialect of the accounting service,
 * `webhook`).
 */
export interface WebhookShape {
  signatureHeader: string;
  /** What stands before the signature in its header. */
  signaturePrefix: string;
  timestampHeader: string | null;
  timestampUnit: "ms" | "s";
  /** What the signature is made over: the body's bytes, or the timestamp, what stands between, and the body's bytes. */
  signed: "body" | "timestamp+body" | "timestamp.body";
  encoding: "hex" | "base64";
  /** Where an event's id stands: a field of the body, or a header. */
  eventId: string | { header: string } | null;
}

/** One connection whose webhooks are received. */
export interface WebhookSource {
  /** All verify; at least one. They are asked for with each webhook, so that they may change. */
  secrets: Iterable<string>;
  shape: WebhookShape;
}

type VerifiedWebhook = { kind: "verified"; eventId: string | undefined } | { kind: "refused"; reason: Refusal };

/**
 * As far as a request's own timestamp may be off, old or future (Accounting Service, "Limits": that of signed
 * requests).
 */
const TOLERANCE_MS = 5 * 60_000;
/** Longer ones are no ids. */
const LONGEST_EVENT_ID = 200;

/** Whether a webhook is the service's own, by the bytes that came, and now. */
function verifyWebhook(
  { headers, body }: { headers: IncomingHttpHeaders; body: Buffer },
  { secrets, shape }: WebhookSource,
  nowMs: number,
): VerifiedWebhook {
  const timestamp = shape.timestampHeader === null ? undefined : headerOf(headers, shape.timestampHeader);
  if (shape.timestampHeader !== null) {
    const off = timestamp === undefined ? undefined : offBy(timestamp, shape.timestampUnit, nowMs);
    if (off === undefined) return { kind: "refused", reason: "no-timestamp" };
    if (off > TOLERANCE_MS) return { kind: "refused", reason: "future-timestamp" };
    if (off < -TOLERANCE_MS) return { kind: "refused", reason: "old-timestamp" };
  }
  const given = signatureOf(headers, shape);
  if (given === undefined) return { kind: "refused", reason: "no-signature" };
  const before = { body: "", "timestamp+body": timestamp ?? "", "timestamp.body": `${timestamp ?? ""}.` }[shape.signed];
  // All are tried, so that the time taken does not tell which one it was.
  const verdicts = Array.from(secrets, (secret) => {
    const expected = createHmac("sha256", secret).update(before).update(body).digest();
    return timingSafeEqual(expected, given);
  });
  if (!verdicts.includes(true)) return { kind: "refused", reason: "wrong-signature" };
  return { kind: "verified", eventId: eventIdOf(headers, body, shape.eventId) };
}

/** Milliseconds; negative: in the past. */
function offBy(timestamp: string, unit: WebhookShape["timestampUnit"], nowMs: number): number | undefined {
  if (!/^\d{1,16}$/.test(timestamp)) return undefined;
  return Number(timestamp) * (unit === "s" ? 1_000 : 1) - nowMs;
}

/** Its 32 bytes, in exactly the one spelling that the encoding has for them. */
function signatureOf(headers: IncomingHttpHeaders, shape: WebhookShape): Buffer | undefined {
  const value = headerOf(headers, shape.signatureHeader);
  if (value === undefined || !value.startsWith(shape.signaturePrefix)) return undefined;
  const text = value.slice(shape.signaturePrefix.length);
  const form = shape.encoding === "hex" ? /^[0-9a-f]{64}$/i : /^[A-Za-z0-9+/]{43}=$/;
  return form.test(text) ? Buffer.from(text, shape.encoding) : undefined;
}

function eventIdOf(headers: IncomingHttpHeaders, body: Buffer, place: WebhookShape["eventId"]): string | undefined {
  if (place === null) return undefined;
  const id = typeof place === "string" ? fieldOf(body, place) : headerOf(headers, place.header);
  const text = typeof id === "number" ? String(id) : id;
  return typeof text === "string" && text !== "" && text.length <= LONGEST_EVENT_ID ? text : undefined;
}

/** Of a body that is a JSON object; a number as it was written, since two ids beyond 2^53 can be one number. */
export function fieldOf(body: Buffer, name: string): unknown {
  const parsed = parseJson(body.toString("utf8"));
  return "json" in parsed ? field(parsed.json, name) : undefined;
}

/** One that stands there twice is none. */
function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" ? value : undefined;
}

/** Events that are remembered; one that comes again later only asks for one more synchronisation. */
const REMEMBERED_EVENTS = 20_000;

interface WebhookOptions {
  /** By connection; a connection that is not among them has no webhooks. */
  sources: ReadonlyMap<string, WebhookSource>;
  /** Of the receiver. */
  readSecretsAgain: () => void;
  log: CallbackLog;
  watch: ReceiverWatch;
  refuse: Refuse;
  /** Of webhooks alone: anyone can send one, and takes nothing from the callbacks. */
  bodies: BodyReader;
  /** By connection. */
  pace: SignalPace;
  clock: () => number;
}

/**
 * Receives the accounting service's webhooks. Nothing in one is believed but that it is the service's: it asks for a
 * synchronisation, which reads what has changed.
 */
export function createWebhookHandler(
  options: WebhookOptions,
): (request: FastifyRequest<{ Params: { connection: string } }>, reply: FastifyReply) => Promise<FastifyReply> {
  const { sources, readSecretsAgain, log, watch, refuse, bodies, pace, clock } = options;
  /** The events that were passed on, by connection and id; the oldest first. */
  const seen = new Set<string>();

  async function passOn(reply: FastifyReply, connection: string, eventId: string | undefined): Promise<FastifyReply> {
    const from = { kind: "webhook", connection } as const;
    // No connection's name has a space.
    const event = eventId === undefined ? undefined : `${connection} ${eventId}`;
    if (event !== undefined && seen.has(event)) {
      log.debug({ connection, eventId }, "a webhook came again");
      watch.accepted(from);
      return reply.code(202).send();
    }
    const outcome = await pace.pass(connection, eventId);
    watch.forwarded(from, outcome);
    if (outcome === "unreachable") return refuse(reply, from, "temporal-away");
    // Only now: one that was not passed on must not count as seen when it comes again.
    if (event !== undefined) seen.add(event);
    const [oldest = ""] = seen;
    if (seen.size > REMEMBERED_EVENTS) seen.delete(oldest);
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
      readSecretsAgain();
      verified = verify();
    }
    if (verified.kind === "refused") return refuse(reply, from, verified.reason);
    return await passOn(reply, connection, verified.eventId);
  };
}
