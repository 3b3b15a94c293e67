import { createHmac } from "node:crypto";
import type { Changes } from "../changes.ts";
import { postText } from "../post-json.ts";
import type { AccountingDialect } from "./dialect.ts";

const attemptTimeoutMs = 10_000;

/** One webhook that was sent, as the books keep it. */
export interface SentWebhook {
  atMs: number;
  url: string;
  eventId: string;
  headers: Record<string, string>;
  payload: string;
  responseStatus: number | null;
  error: string | null;
}

export interface WebhookToSend {
  url: string;
  secret: string;
  event: Record<string, unknown>;
  /** Default: a new one. */
  eventId?: string | undefined;
  /** Default: now. */
  timestampMs?: number | undefined;
  /** Turned over in the payload after it was signed. */
  flippedByte?: number | undefined;
}

/**
 * Sends webhooks as the dialect shapes them: the document shows neither kinds, nor payloads, nor a schedule, so each is
 * sent once.
 */
export class WebhookSender {
  readonly #shape: AccountingDialect["webhook"];
  readonly #nowMs: () => number;
  readonly #changes: Changes;
  readonly #sent: SentWebhook[] = [];
  readonly #stop = new AbortController();
  #lastId = 0;

  constructor(shape: AccountingDialect["webhook"], nowMs: () => number, changes: Changes) {
    this.#shape = shape;
    this.#nowMs = nowMs;
    this.#changes = changes;
  }

  /** Resolves to what became of it; never rejects. */
  async send(webhook: WebhookToSend): Promise<SentWebhook> {
    this.#lastId += 1;
    const { url, secret, event, eventId = `evt_${this.#lastId}`, timestampMs = this.#nowMs(), flippedByte } = webhook;
    const payload = JSON.stringify(this.#withId(event, eventId));
    const headers = this.#headers(payload, secret, eventId, timestampMs);
    const entry: SentWebhook = {
      atMs: this.#nowMs(),
      url,
      eventId,
      headers,
      payload,
      responseStatus: null,
      error: null,
    };
    this.#sent.push(entry);
    const bytes = Buffer.from(payload);
    if (flippedByte !== undefined) bytes.writeUInt8(bytes.readUInt8(flippedByte) ^ 1, flippedByte);
    try {
      entry.responseStatus = await postText(url, bytes, headers, attemptTimeoutMs, this.#stop.signal);
    } catch (error) {
      entry.error = error instanceof Error ? error.message : String(error);
    }
    this.#changes.announce();
    return entry;
  }

  sent(): readonly SentWebhook[] {
    return this.#sent;
  }

  close(): void {
    this.#stop.abort();
  }

  #withId(event: Record<string, unknown>, eventId: string): Record<string, unknown> {
    const { eventId: place } = this.#shape;
    return typeof place === "string" ? { [place]: eventId, ...event } : event;
  }

  #headers(payload: string, secret: string, eventId: string, timestampMs: number): Record<string, string> {
    const shape = this.#shape;
    const timestamp = String(shape.timestampUnit === "s" ? Math.floor(timestampMs / 1000) : timestampMs);
    const between = { body: "", "timestamp+body": timestamp, "timestamp.body": `${timestamp}.` }[shape.signed];
    const signature = createHmac("sha256", secret).update(between).update(payload).digest(shape.encoding);
    return {
      "content-type": "application/json",
      [shape.signatureHeader]: `${shape.signaturePrefix}${signature}`,
      ...(shape.timestampHeader === null ? {} : { [shape.timestampHeader]: timestamp }),
      ...(typeof shape.eventId === "object" && shape.eventId !== null ? { [shape.eventId.header]: eventId } : {}),
    };
  }
}
