import { setMaxListeners } from "node:events";
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { factsOf, type Callback, type DocumentRecord } from "./documents.ts";
import type { CallbackFaultKind } from "./faults.ts";
import { invalidRequest } from "./request.ts";
import type { Surroundings } from "./service.ts";

/** One delivery attempt, as the books keep it. */
export interface CallbackAttempt {
  saleId: string;
  invoice: string;
  url: string;
  event: Callback["event"];
  atMs: number;
  responseStatus: number | null;
  error: string | null;
  /** What disturbed it, or made it: forgeries stand among the attempts too. */
  fault: CallbackFaultKind | null;
}

interface Sending {
  record: DocumentRecord;
  url: string;
  event: Callback["event"];
  fault: CallbackFaultKind | null;
  /** Default: the event and the document's id. */
  body?: unknown;
}

const dayMs = 86_400_000;

/** What a document created with a callback URL starts with. */
export function awaitingCallback(url: string): Callback {
  return {
    url,
    status: "awaiting_outcome",
    event: null,
    attempts: 0,
    lastAttemptAt: null,
    lastResponseStatus: null,
    lastError: null,
    deliveredAt: null,
    nextAttemptAt: null,
  };
}

/** Sends result callbacks until a 2xx answer or until the delays are used up, and keeps the book of them. */
export class Callbacks {
  readonly attempts: CallbackAttempt[] = [];
  readonly #around: Surroundings;
  readonly #settings: { readonly callbackRetryDelaysMs: readonly number[] };
  readonly #stop = new AbortController();
  /** Which event of a document is under way: the attempt of an older one must not write over a newer one. */
  readonly #rounds = new Map<string, number>();
  /** Documents whose callback has gone out before their outcome. */
  readonly #early = new Set<string>();
  #held: (() => void)[] | null = null;

  constructor(around: Surroundings, settings: { readonly callbackRetryDelaysMs: readonly number[] }) {
    this.#around = around;
    this.#settings = settings;
  }

  /** Announces what the document has become; nothing for a document without callback or one still in flight. */
  outcome(record: DocumentRecord): void {
    const { callback, status, id } = record.sale;
    if (callback === null || this.#early.has(id) || (status !== "completed" && status !== "failed")) return;
    const event = status === "completed" ? "sale.completed" : "sale.failed";
    Object.assign(callback, awaitingCallback(callback.url), { status: "pending", event });
    this.#schedule(record, callback, 0);
  }

  /** The document is cancelled, or in flight again: whatever was to be delivered about it is out of date. */
  withdraw({ sale: { id, callback } }: DocumentRecord): void {
    if (callback === null) return;
    this.#nextRound(id);
    this.#early.delete(id);
    Object.assign(callback, awaitingCallback(callback.url));
  }

  /** The document is in flight, which is when a callback can come too early and a stranger can tell a lie. */
  inFlight(record: DocumentRecord): void {
    this.withdraw(record);
    const { callback, id } = record.sale;
    if (callback === null) return;
    const fault = this.#around.faults.strikeCallback(["early", "forged"], factsOf(record));
    if (fault?.kind === "forged") {
      for (const forgery of forgeries(record, callback.url)) this.#after(0, () => void this.#extra(forgery));
    } else if (fault?.kind === "early") {
      this.#early.add(id);
      Object.assign(callback, { status: "pending", event: "sale.completed" });
      this.#schedule(record, callback, 0, "early");
    }
  }

  /** Sends the latest event once more, also when it was delivered or given up. False when there is none. */
  redeliver(record: DocumentRecord): boolean {
    const { callback } = record.sale;
    if (callback === null || callback.event === null) return false;
    callback.status = "pending";
    this.#schedule(record, callback, 0);
    return true;
  }

  /** Holds every attempt that falls due until `resume`. */
  pause(): void {
    this.#held ??= [];
  }

  resume(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const run of held) run();
  }

  close(): void {
    this.#held = null;
    this.#stop.abort();
  }

  #nextRound(saleId: string): number {
    const round = (this.#rounds.get(saleId) ?? 0) + 1;
    this.#rounds.set(saleId, round);
    return round;
  }

  #after(delayMs: number, send: () => void): void {
    this.#around.timers.after(delayMs, () => {
      if (this.#held === null) send();
      else this.#held.push(send);
    });
  }

  #inMs(delayMs: number): string {
    return new Date(this.#around.nowMs() + delayMs).toISOString();
  }

  #schedule(record: DocumentRecord, callback: Callback, delayMs: number, fault?: "early"): void {
    const round = this.#nextRound(record.sale.id);
    callback.nextAttemptAt = this.#inMs(delayMs);
    this.#after(delayMs, () => void this.#attempt(record, callback, round, fault));
  }

  async #attempt(record: DocumentRecord, callback: Callback, round: number, early?: "early"): Promise<void> {
    if (this.#rounds.get(record.sale.id) !== round) return;
    const { event, url } = callback;
    const { faults, changes } = this.#around;
    const ofCompleted = event === "sale.completed" ? (["out-of-order"] as const) : [];
    const struck =
      early === undefined
        ? faults.strikeCallback(["lost", "doubled", "late", ...ofCompleted], factsOf(record))
        : undefined;
    const sending: Sending = { record, url, event, fault: early ?? struck?.kind ?? null };
    if (struck?.kind === "late") {
      const delayMs = struck.delayMs ?? dayMs;
      callback.nextAttemptAt = this.#inMs(delayMs);
      this.#after(delayMs, () => void this.#carryOut(sending, callback, round));
      changes.announce();
      return;
    }
    if (struck?.kind === "doubled") void this.#extra(sending);
    await this.#carryOut(sending, callback, round);
    if (struck?.kind === "out-of-order") await this.#extra({ ...sending, event: "sale.failed" });
  }

  async #carryOut(sending: Sending, callback: Callback, round: number): Promise<void> {
    const isLatest = (): boolean => this.#rounds.get(sending.record.sale.id) === round;
    if (isLatest()) {
      callback.attempts += 1;
      callback.lastAttemptAt = this.#inMs(0);
      callback.nextAttemptAt = null;
    }
    const attempt = await this.#send(sending);
    if (this.#stop.signal.aborted) return;
    if (isLatest()) this.#record(sending.record, callback, attempt);
    this.#around.changes.announce();
  }

  /** A request that the service does not know of. */
  async #extra(sending: Sending): Promise<void> {
    if (this.#stop.signal.aborted) return;
    await this.#send(sending);
    this.#around.changes.announce();
  }

  /** Resolves to the attempt with what came of it; never rejects. One that is lost never leaves. */
  async #send({ record: { sale }, url, event, fault, body }: Sending): Promise<CallbackAttempt> {
    const { id: saleId, traderInvoiceNumber: invoice } = sale;
    const atMs = this.#around.nowMs();
    const attempt: CallbackAttempt = { saleId, invoice, url, event, atMs, responseStatus: null, error: null, fault };
    this.attempts.push(attempt);
    const payload = Buffer.from(JSON.stringify(body ?? { event, saleId }));
    try {
      attempt.responseStatus = fault === "lost" ? 200 : await post(url, payload, this.#stop.signal);
      const isTaken = attempt.responseStatus >= 200 && attempt.responseStatus <= 299;
      if (!isTaken) attempt.error = `HTTP ${attempt.responseStatus}`;
    } catch (error) {
      attempt.error = error instanceof Error ? error.message : String(error);
    }
    return attempt;
  }

  #record(record: DocumentRecord, callback: Callback, attempt: CallbackAttempt): void {
    callback.lastResponseStatus = attempt.responseStatus;
    callback.lastError = attempt.error;
    const delayMs = this.#settings.callbackRetryDelaysMs[callback.attempts - 1];
    if (attempt.error === null) Object.assign(callback, { status: "delivered", deliveredAt: this.#inMs(0) });
    else if (delayMs === undefined) callback.status = "failed";
    else this.#schedule(record, callback, delayMs);
  }
}

/** The same URL with another character at the end of its path. */
function altered(url: string): string {
  const parsed = new URL(url);
  parsed.pathname = parsed.pathname.slice(0, -1) + (parsed.pathname.endsWith("A") ? "B" : "A");
  return parsed.href;
}

/** What a stranger sends about a document in flight: to a URL that he has guessed, and to the one that he has seen. */
function forgeries(record: DocumentRecord, url: string): Sending[] {
  const { id, traderInvoiceNumber } = record.sale;
  const receipt = { cuInvoiceNo: "FORGED", signature: "FORGED" };
  const sale = { id, traderInvoiceNumber, status: "completed", receipt };
  const body = { event: "sale.completed", saleId: id, sale, data: { sale } };
  return [altered(url), url].map((target) => ({ record, url: target, event: "sale.completed", fault: "forged", body }));
}

const LOOPBACK = /^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/;
/** Names of one word, names that stay inside, and the addresses of private networks. */
const NOT_PUBLIC =
  /^[^.[]+$|\.(local|internal|test|invalid)$|^(0|10|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168|2(2[4-9]|[3-5]\d))\.|^\[(::\]|f[cdef])/;

/**
 * Refuses what is not an "absolute https URL on a public host, no credentials in it; maximum 2048 characters"
 * (document, POST /v1/credit-notes). Loopback is accepted, with http too: tests and the demo listen there.
 */
export function requireCallbackUrl(field: string, text: string): void {
  if (text.length > 2048) throw invalidRequest(field, "must have at most 2048 characters");
  if (!URL.canParse(text)) throw invalidRequest(field, "must be an absolute URL");
  const { username, password, hostname, protocol } = new URL(text);
  if (username !== "" || password !== "") throw invalidRequest(field, "must not contain credentials");
  if (LOOPBACK.test(hostname)) return;
  if (protocol !== "https:") throw invalidRequest(field, "must be an https URL");
  if (NOT_PUBLIC.test(hostname)) throw invalidRequest(field, "must be on a public host");
}

/** For callbacks and webhooks; their documents show no schedule. */
const TIMEOUT_MS = 10_000;
/** An authority that answers thousands of documents at once must not take this process's last file descriptor. */
const AT_ONCE = { keepAlive: false, maxTotalSockets: 500 };
const AGENTS = { http: new HttpAgent(AT_ONCE), https: new HttpsAgent(AT_ONCE) };

/** POSTs JSON on a connection of its own, which never outlives the answer, and resolves to the answer's status. */
export async function post(
  url: string,
  payload: Buffer,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  // Each call that is under way listens to it, however many there are.
  setMaxListeners(0, signal);
  const isSecure = url.startsWith("https:");
  const send = isSecure ? requestHttps : requestHttp;
  const agent = isSecure ? AGENTS.https : AGENTS.http;
  const sent = { "content-type": "application/json", ...headers, "content-length": payload.length };
  return await new Promise<number>((resolve, reject) => {
    const request = send(url, { method: "POST", agent, signal, headers: sent }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    request.on("error", reject);
    request.end(payload);
  });
}
