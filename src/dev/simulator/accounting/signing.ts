import { createHmac, timingSafeEqual } from "node:crypto";
import type { AccountingDialect } from "../dialect.ts";
import { post } from "../callbacks.ts";
import { ApiError } from "../request.ts";
import type { RawCall, Surroundings } from "../service.ts";
import type { AccountingApplication } from "../scenario.ts";

/** Document, "Limits": tolerance of the timestamp of a signed request. */
const toleranceMs = 5 * 60_000;

function refused(message: string): ApiError {
  return new ApiError(401, "unauthorized", message);
}

/**
 * Document, "Authentication" 1 to 5: the key always; the signature where its headers are sent, over the bytes that
 * came.
 * @throws ApiError 401
 */
export function authenticate(
  call: RawCall,
  applications: readonly AccountingApplication[],
  { withQuery, required, nowMs }: { withQuery: boolean; required: boolean; nowMs: number },
): AccountingApplication {
  const key = call.headers["x-api-key"];
  const application = applications.find(({ keys }) => typeof key === "string" && keys.includes(key));
  if (application === undefined) throw refused("The API key is missing or invalid");
  if (!application.active) throw refused("The application is not active");
  const isSigned = call.headers["x-signature"] !== undefined || call.headers["x-timestamp"] !== undefined;
  if (!isSigned && !required) return application;
  if (isGood(call, application.clientSecret, withQuery, nowMs)) return application;
  throw refused("The signature is not valid");
}

function isGood(call: RawCall, secret: string | null, withQuery: boolean, nowMs: number): boolean {
  const { method, target, headers, body } = call;
  const signature = headers["x-signature"];
  const timestamp = headers["x-timestamp"];
  if (secret === null || typeof signature !== "string" || typeof timestamp !== "string") return false;
  if (!/^[0-9]{1,16}$/.test(timestamp) || Math.abs(Number(timestamp) - nowMs) > toleranceMs) return false;
  // Where the service is mounted is part of the path that was signed.
  const path = withQuery ? target : (target.split("?")[0] ?? "");
  const hmac = createHmac("sha256", secret);
  for (const part of [method.toUpperCase(), path, body, timestamp]) hmac.update(part);
  return /^[0-9a-f]{64}$/.test(signature) && timingSafeEqual(hmac.digest(), Buffer.from(signature, "hex"));
}

export interface WebhookToSend {
  url: string;
  secret: string;
  event: Record<string, unknown>;
  /** Default: a new one. */
  eventId?: string;
  /** Default: now. */
  timestampMs?: number;
  /** Turned over in the payload after it was signed. */
  flippedByte?: number;
}

/** One webhook that was sent. */
export interface SentWebhook {
  eventId: string;
  headers: Record<string, string>;
  payload: string;
  responseStatus: number | null;
  error: string | null;
}

/**
 * Sends webhooks as the dialect shapes them: the document shows neither kinds, nor payloads, nor a schedule, so each is
 * sent once.
 */
export class Webhooks {
  readonly #shape: AccountingDialect["webhook"];
  readonly #around: Surroundings;
  readonly #stop = new AbortController();
  #lastId = 0;

  constructor(shape: AccountingDialect["webhook"], around: Surroundings) {
    this.#shape = shape;
    this.#around = around;
  }

  /** Resolves to what became of it, once it is answered or has failed; never rejects. */
  async send(webhook: WebhookToSend): Promise<SentWebhook> {
    this.#lastId += 1;
    const { url, secret, event, eventId = `evt_${this.#lastId}` } = webhook;
    const { timestampMs = this.#around.nowMs(), flippedByte } = webhook;
    const place = this.#shape.eventId;
    const payload = JSON.stringify(typeof place === "string" ? { [place]: eventId, ...event } : event);
    const headers = this.#headers(payload, secret, eventId, timestampMs);
    const sent: SentWebhook = { eventId, headers, payload, responseStatus: null, error: null };
    const bytes = Buffer.from(payload);
    if (flippedByte !== undefined) bytes.writeUInt8(bytes.readUInt8(flippedByte) ^ 1, flippedByte);
    try {
      sent.responseStatus = await post(url, bytes, this.#stop.signal, headers);
    } catch (error) {
      sent.error = error instanceof Error ? error.message : String(error);
    }
    this.#around.changes.announce();
    return sent;
  }

  close(): void {
    this.#stop.abort();
  }

  #headers(payload: string, secret: string, eventId: string, timestampMs: number): Record<string, string> {
    const shape = this.#shape;
    const timestamp = String(shape.timestampUnit === "s" ? Math.floor(timestampMs / 1000) : timestampMs);
    const before = { body: "", "timestamp+body": timestamp, "timestamp.body": `${timestamp}.` }[shape.signed];
    const signature = createHmac("sha256", secret).update(before).update(payload).digest(shape.encoding);
    return {
      [shape.signatureHeader]: `${shape.signaturePrefix}${signature}`,
      ...(shape.timestampHeader === null ? {} : { [shape.timestampHeader]: timestamp }),
      ...(typeof shape.eventId === "object" && shape.eventId !== null ? { [shape.eventId.header]: eventId } : {}),
    };
  }
}
