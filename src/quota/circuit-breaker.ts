import { endOfPauseMs } from "../http/deadline.ts";
import { isOwnDoing, saysAway, TransportError } from "../http/errors.ts";
import type { HttpAnswer } from "../http/request.ts";
import { parseHttpDateMs, parseRetryAfterSeconds } from "../http/quota-headers.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";
import { afterFailure, type BudgetRules, NO_TROUBLE, probeAt, probeBack, probeSent, type Trouble } from "./budget.ts";
import { waitOf } from "./decide.ts";
import { Turns } from "./turns.ts";

export interface CircuitBreakerOptions {
  transport: Transport;
  rules: BudgetRules;
  nowMs: () => number;
  /** Called on each 429. */
  onRefused: () => void;
}

/**
 * The circuit breaker in front of a service that documents no rate limit: how many calls are under way is bounded by
 * the slots of its worker, a 429 closes it for its Retry-After, and a service whose calls keep failing is asked by one
 * call at a time (docs/failure-model.md, "What each kind of trouble means").
 */
export class CircuitBreaker implements Transport {
  readonly #options: CircuitBreakerOptions;
  readonly #turns: Turns;
  #closedUntilMs = 0;
  #trouble: Trouble = NO_TROUBLE;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#turns = new Turns(options.nowMs);
  }

  /** @throws TransportError `held-back`; whatever the transport throws */
  async send(request: TransportRequest): Promise<HttpAnswer> {
    const nowMs = this.#options.nowMs();
    const opensAtMs = this.#opensAt(request.freshConnection === true);
    if (opensAtMs === undefined || opensAtMs > nowMs) throw heldBack(Math.max(1, (opensAtMs ?? 0) - nowMs));
    const isProbe = this.#trouble.probing !== undefined;
    this.#trouble = probeSent(this.#trouble);
    try {
      const answer = await this.#options.transport.send(request);
      this.#answered(answer.status, answer.headers, answer.answeredAtMs, isProbe);
      return answer;
    } catch (error) {
      this.#failed(error, isProbe);
      throw error;
    } finally {
      this.#turns.changed();
    }
  }

  /** Whether a call could be sent now: then a poll for one may be opened. */
  isOpen(): boolean {
    const opensAtMs = this.#opensAt(false);
    return opensAtMs !== undefined && opensAtMs <= this.#options.nowMs();
  }

  /** Calls back once, when it may have opened. @returns ends the wait */
  whenOpen(listener: () => void): () => void {
    return this.#turns.wait(this.#opensAt(false), listener);
  }

  /** Undefined while a probe is under way. */
  #opensAt(unrepeatable: boolean): number | undefined {
    const probeMs = probeAt(this.#trouble, unrepeatable);
    if (probeMs === undefined) return undefined;
    const { rules, nowMs } = this.#options;
    return Math.max(this.#closedUntil(), endOfPauseMs(probeMs, nowMs(), 2 * rules.longestPauseMs));
  }

  #closedUntil(): number {
    const { rules, nowMs } = this.#options;
    return endOfPauseMs(this.#closedUntilMs, nowMs(), rules.longestClosedMs);
  }

  #answered(status: number, headers: Readonly<Record<string, string>>, answeredAtMs: number, isProbe: boolean): void {
    const { rules, nowMs, onRefused } = this.#options;
    const retryAfterSeconds = parseRetryAfterSeconds(headers, parseHttpDateMs(headers["date"]) ?? answeredAtMs);
    if (status === 429 || (status === 503 && retryAfterSeconds !== undefined)) {
      const waitMs = waitOf({ status, sentAtMs: answeredAtMs, answeredAtMs, retryAfterSeconds });
      this.#closedUntilMs = Math.max(this.#closedUntil(), nowMs() + Math.min(waitMs, rules.longestClosedMs));
      if (status === 429) onRefused();
    }
    this.#trouble = saysAway(status) ? afterFailure(this.#trouble, isProbe, rules, nowMs()) : NO_TROUBLE;
  }

  #failed(error: unknown, isProbe: boolean): void {
    const { rules, nowMs } = this.#options;
    if (error instanceof TransportError && error.answered) {
      const { status, headers, atMs } = error.answered;
      this.#answered(status, headers, atMs, isProbe);
    } else if (error instanceof TransportError && isOwnDoing(error)) {
      if (isProbe) this.#trouble = probeBack(this.#trouble);
    } else this.#trouble = afterFailure(this.#trouble, isProbe, rules, nowMs());
  }
}

function heldBack(retryAfterMs: number): TransportError {
  const message = `kept back, since the service is refusing calls or failing, for ${retryAfterMs} ms; nothing was sent`;
  return new TransportError(message, { code: "held-back", sent: "no", retryAfterMs });
}
