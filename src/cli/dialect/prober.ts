import { setTimeout as delay } from "node:timers/promises";

import {
  AccountingApiError,
  AccountingUnauthorizedError,
  AccountingUnexpectedAnswerError,
} from "../../accounting/index.ts";
import { ComplianceApiError, type SeenSale, UnexpectedAnswerError } from "../../compliance/index.ts";
import { wordsOf } from "../../dialect/candidates.ts";
import { TransportError } from "../../http/errors.ts";
import type { RateLimit } from "../../http/quota-headers.ts";
import { CommandFailedError } from "../cli-error.ts";

/** How one call ended. */
export type Answer =
  | { kind: "ok"; status: number; body: unknown; replayed: boolean }
  /** `words`: those of the message that may be names of fields. `document`: one exists all the same. */
  | { kind: "refused"; status: number; words: readonly string[]; document?: SeenSale | undefined }
  /** Nobody knows what the service did, or it did something else than documented. */
  | { kind: "unknown"; message: string };

interface Meta {
  rateLimit?: RateLimit;
  replayed?: boolean;
  status: number;
  retryAfterSeconds?: number;
}

/** The calls that were allowed are used up: what is not found by now is asked. */
export class CallsSpentError extends Error {
  override readonly name = "CallsSpentError";
}

/** Of each window the running worker keeps this share. */
const SHARE_OF_WORKER = 0.25;
const MOST_TRIES = 5;
const WAIT_WITHOUT_WORD_SECONDS = 60;
const TOO_MANY_REQUESTS = 429;

/**
 * One call at a time, a bounded number of them. A 429 was not processed, so it is repeated after Retry-After; nothing
 * else is repeated. Before a window is used up it waits for the next one, so that the worker has requests left.
 */
export class Prober {
  readonly #most: number;
  readonly #signal: AbortSignal;
  readonly #onWait: (seconds: number) => void;
  /** The quota by the last answer with headers, less what was called since: refusals have none. */
  #room: { remaining: number; limit: number; endsAtMs: number } | undefined;
  calls = 0;

  constructor(options: { most: number; signal: AbortSignal; onWait: (seconds: number) => void }) {
    this.#most = options.most;
    this.#signal = options.signal;
    this.#onWait = options.onWait;
  }

  /**
   * @throws CommandFailedError where the service cannot be reached or does not know the key, CallsSpentError, the
   * signal's reason
   */
  async call(send: (signal: AbortSignal) => Promise<{ data: unknown; meta: Meta }>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      if (this.calls >= this.#most) throw new CallsSpentError(`${this.#most} calls were made`);
      await this.#untilRoom();
      this.calls += 1;
      try {
        const { data, meta } = await send(this.#signal);
        this.#note(meta);
        return { kind: "ok", status: meta.status, body: data, replayed: meta.replayed === true };
      } catch (error) {
        this.#signal.throwIfAborted();
        const refusal = refusalOf(error);
        if (refusal?.status !== TOO_MANY_REQUESTS || attempt === MOST_TRIES) return answerOf(error, refusal);
        const { retryAfterSeconds, rateLimit }: Meta = refusal.meta;
        await this.wait(retryAfterSeconds ?? rateLimit?.resetSeconds ?? WAIT_WITHOUT_WORD_SECONDS);
      }
    }
  }

  async wait(seconds: number): Promise<void> {
    if (seconds > 2) this.#onWait(seconds);
    await delay(seconds * 1000, undefined, { signal: this.#signal });
  }

  #note({ rateLimit }: Meta): void {
    if (rateLimit === undefined) return;
    const { remaining, limit, resetSeconds } = rateLimit;
    this.#room = { remaining, limit, endsAtMs: Date.now() + resetSeconds * 1000 };
  }

  async #untilRoom(): Promise<void> {
    const room = this.#room;
    if (room === undefined) return;
    room.remaining -= 1;
    if (room.remaining >= room.limit * SHARE_OF_WORKER) return;
    this.#room = undefined;
    const seconds = Math.ceil((room.endsAtMs - Date.now()) / 1000);
    if (seconds > 0) await this.wait(seconds);
  }
}

type Refusal = ComplianceApiError | AccountingApiError;

function refusalOf(error: unknown): Refusal | undefined {
  return error instanceof ComplianceApiError || error instanceof AccountingApiError ? error : undefined;
}

function answerOf(error: unknown, refusal: Refusal | undefined): Answer {
  if (refusal !== undefined) {
    const { status, message, apiMessage } = refusal;
    if (status === 401 && !(refusal instanceof AccountingUnauthorizedError)) throw new CommandFailedError(message);
    if (status >= 500) return { kind: "unknown", message: `HTTP ${status}` };
    const extras = refusal instanceof ComplianceApiError ? refusal.extras : undefined;
    return { kind: "refused", status, words: wordsOf(apiMessage, extras?.errors), document: extras?.seenSale };
  }
  if (error instanceof UnexpectedAnswerError || error instanceof AccountingUnexpectedAnswerError) {
    return { kind: "unknown", message: `HTTP ${error.status}, which the document does not show` };
  }
  if (!(error instanceof TransportError)) throw error;
  if (error.sent === "no") throw new CommandFailedError(error.message);
  return { kind: "unknown", message: error.message };
}
