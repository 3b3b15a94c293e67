import { type CallbackAttempt, CallbackSender, type Sending } from "./callback-sender.ts";
import type { Changes } from "./changes.ts";
import type { Callback, DocumentRecord } from "./document-record.ts";
import type { Faults } from "./faults.ts";
import type { Timers } from "./timers.ts";

interface Parts {
  timers: Timers;
  changes: Changes;
  faults: Faults;
  nowMs: () => number;
  /** Delay before each attempt after the first; when they are used up the callback is `failed`. */
  retryDelaysMs: readonly number[];
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

/** Sends result callbacks until a 2xx answer or until the delays are used up. */
export class CallbackDelivery {
  readonly #parts: Parts;
  readonly #sender: CallbackSender;
  /** Which event of a document is under way: the attempt of an older one must not write over a newer one. */
  readonly #rounds = new Map<string, number>();
  /** Documents whose callback has gone out before their outcome. */
  readonly #early = new Set<string>();
  #held: (() => void)[] | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sender = new CallbackSender(parts.nowMs);
  }

  /** Announces what the document has become; nothing for a document without callback or one still in flight. */
  outcome(record: DocumentRecord): void {
    const { callback, status } = record.sale;
    if (callback === null || (status !== "completed" && status !== "failed")) return;
    if (this.#early.has(record.sale.id)) return;
    Object.assign(callback, awaitingCallback(callback.url), {
      status: "pending",
      event: status === "completed" ? "sale.completed" : "sale.failed",
    });
    this.#schedule(record, callback, 0);
  }

  /** The document is cancelled, or in flight again: whatever was to be delivered about it is out of date. */
  withdraw(record: DocumentRecord): void {
    if (record.sale.callback === null) return;
    this.#nextRound(record.sale.id);
    this.#early.delete(record.sale.id);
    Object.assign(record.sale.callback, awaitingCallback(record.sale.callback.url));
  }

  /** The document is in flight, which is when a callback can come too early and a stranger can tell a lie. */
  inFlight(record: DocumentRecord): void {
    this.withdraw(record);
    const { callback } = record.sale;
    if (callback === null) return;
    const fault = this.#parts.faults.strikeCallback(["early", "forged"], factsOf(record));
    if (fault?.kind === "forged") {
      for (const forgery of forgeries(record, callback.url)) this.#after(0, () => void this.#extra(forgery));
    } else if (fault?.kind === "early") {
      this.#early.add(record.sale.id);
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

  attempts(): readonly CallbackAttempt[] {
    return this.#sender.attempts();
  }

  close(): void {
    this.#held = null;
    this.#sender.close();
  }

  #nextRound(saleId: string): number {
    const round = (this.#rounds.get(saleId) ?? 0) + 1;
    this.#rounds.set(saleId, round);
    return round;
  }

  #after(delayMs: number, send: () => void): void {
    this.#parts.timers.after(delayMs, () => {
      if (this.#held === null) send();
      else this.#held.push(send);
    });
  }

  #schedule(record: DocumentRecord, callback: Callback, delayMs: number, fault?: "early"): void {
    const round = this.#nextRound(record.sale.id);
    callback.nextAttemptAt = new Date(this.#parts.nowMs() + delayMs).toISOString();
    this.#after(delayMs, () => void this.#attempt(record, callback, round, fault));
  }

  async #attempt(record: DocumentRecord, callback: Callback, round: number, early?: "early"): Promise<void> {
    if (this.#rounds.get(record.sale.id) !== round) return;
    const { event, url } = callback;
    const kinds = event === "sale.completed" ? (["out-of-order"] as const) : [];
    const struck =
      early === undefined
        ? this.#parts.faults.strikeCallback(["lost", "doubled", "late", ...kinds], factsOf(record))
        : undefined;
    const sending: Sending = { record, url, event, fault: early ?? struck?.kind };
    if (struck?.kind === "late") {
      const delayMs = struck.delayMs ?? dayMs;
      callback.nextAttemptAt = new Date(this.#parts.nowMs() + delayMs).toISOString();
      this.#after(delayMs, () => void this.#carryOut(sending, callback, round));
      this.#parts.changes.announce();
      return;
    }
    if (struck?.kind === "doubled") void this.#extra(sending);
    await this.#carryOut(sending, callback, round);
    if (struck?.kind === "out-of-order") await this.#extra({ ...sending, event: "sale.failed" });
  }

  async #carryOut(sending: Sending, callback: Callback, round: number): Promise<void> {
    const { id } = sending.record.sale;
    if (this.#rounds.get(id) === round) {
      callback.attempts += 1;
      callback.lastAttemptAt = new Date(this.#parts.nowMs()).toISOString();
      callback.nextAttemptAt = null;
    }
    const attempt = sending.fault === "lost" ? this.#sender.lose(sending) : await this.#sender.send(sending);
    if (this.#sender.isClosed) return;
    if (this.#rounds.get(id) === round) this.#record(sending.record, callback, attempt);
    this.#parts.changes.announce();
  }

  /** A request that the service does not know of. */
  async #extra(sending: Sending): Promise<void> {
    if (this.#sender.isClosed) return;
    await this.#sender.send(sending);
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

function factsOf({ sale, businessId, idempotencyKey }: DocumentRecord) {
  return { saleId: sale.id, invoice: sale.traderInvoiceNumber, businessId, idempotencyKey };
}

/** The same URL with another character at the end of its path. */
function altered(url: string): string {
  const parsed = new URL(url);
  parsed.pathname = parsed.pathname.slice(0, -1) + (parsed.pathname.endsWith("A") ? "B" : "A");
  return parsed.href;
}

/** What a stranger sends about a document in flight: to a URL that he has guessed, and to the one that he has seen. */
export function forgeries(record: DocumentRecord, url: string): Sending[] {
  const { id, traderInvoiceNumber } = record.sale;
  const sale = {
    id,
    traderInvoiceNumber,
    status: "completed",
    receipt: { cuInvoiceNo: "FORGED", signature: "FORGED" },
  };
  const body = { event: "sale.completed", saleId: id, sale, data: { sale } };
  return [altered(url), url].map((target) => ({ record, url: target, event: "sale.completed", fault: "forged", body }));
}
