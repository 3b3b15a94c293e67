import type { Changes } from "./changes.ts";
import type { Callback, DocumentRecord } from "./document-record.ts";
import { postJson } from "./post-json.ts";
import { callbackAttemptTimeoutMs } from "./silences.ts";
import type { Timers } from "./timers.ts";

/** One delivery attempt, as the books keep it. */
export interface CallbackAttempt {
  saleId: string;
  invoice: string;
  url: string;
  event: Callback["event"];
  atMs: number;
  responseStatus: number | null;
  error: string | null;
}

interface Parts {
  timers: Timers;
  changes: Changes;
  nowMs: () => number;
  /** Delay before each attempt after the first; when they are used up the callback is `failed`. */
  retryDelaysMs: readonly number[];
}

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

/** Sends result callbacks until a 2xx answer or until the delays are used up. */
export class CallbackDelivery {
  readonly #parts: Parts;
  readonly #attempts: CallbackAttempt[] = [];
  /** Which event of a document is under way: the attempt of an older one must not write over a newer one. */
  readonly #rounds = new Map<string, number>();
  readonly #stop = new AbortController();
  #held: (() => void)[] | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Announces what the document has become; nothing for a document without callback or one still in flight. */
  outcome(record: DocumentRecord): void {
    const { callback, status } = record.sale;
    if (callback === null || (status !== "completed" && status !== "failed")) return;
    Object.assign(callback, awaitingCallback(callback.url), {
      status: "pending",
      event: status === "completed" ? "sale.completed" : "sale.failed",
    });
    this.#schedule(record, callback, 0);
  }

  /** The document is in flight again: whatever was to be delivered about it is out of date. */
  withdraw(record: DocumentRecord): void {
    if (record.sale.callback === null) return;
    this.#nextRound(record.sale.id);
    Object.assign(record.sale.callback, awaitingCallback(record.sale.callback.url));
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

  attempts(): readonly CallbackAttempt[] {
    return this.#attempts;
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

  #schedule(record: DocumentRecord, callback: Callback, delayMs: number): void {
    const round = this.#nextRound(record.sale.id);
    callback.nextAttemptAt = new Date(this.#parts.nowMs() + delayMs).toISOString();
    const run = (): void => {
      if (this.#held === null) void this.#attempt(record, callback, round);
      else this.#held.push(run);
    };
    this.#parts.timers.after(delayMs, run);
  }

  async #attempt(record: DocumentRecord, callback: Callback, round: number): Promise<void> {
    const { sale } = record;
    if (this.#rounds.get(sale.id) !== round) return;
    const attempt: CallbackAttempt = {
      saleId: sale.id,
      invoice: sale.traderInvoiceNumber,
      url: callback.url,
      event: callback.event,
      atMs: this.#parts.nowMs(),
      responseStatus: null,
      error: null,
    };
    this.#attempts.push(attempt);
    callback.attempts += 1;
    callback.lastAttemptAt = new Date(attempt.atMs).toISOString();
    callback.nextAttemptAt = null;
    try {
      const body = { event: callback.event, saleId: sale.id };
      attempt.responseStatus = await postJson(callback.url, body, callbackAttemptTimeoutMs, this.#stop.signal);
      if (attempt.responseStatus < 200 || attempt.responseStatus > 299)
        attempt.error = `HTTP ${attempt.responseStatus}`;
    } catch (error) {
      attempt.error = error instanceof Error ? error.message : String(error);
    }
    if (this.#stop.signal.aborted) return;
    if (this.#rounds.get(sale.id) === round) this.#record(record, callback, attempt);
    this.#parts.changes.announce();
  }

  #record(record: DocumentRecord, callback: Callback, attempt: CallbackAttempt): void {
    callback.lastResponseStatus = attempt.responseStatus;
    callback.lastError = attempt.error;
    if (attempt.error === null) {
      callback.status = "delivered";
      callback.deliveredAt = new Date(this.#parts.nowMs()).toISOString();
      return;
    }
    const delayMs = this.#parts.retryDelaysMs[callback.attempts - 1];
    if (delayMs === undefined) callback.status = "failed";
    else this.#schedule(record, callback, delayMs);
  }
}
