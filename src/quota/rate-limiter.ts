import { isOwnDoing, TransportError } from "../http/errors.ts";
import type { HttpAnswer } from "../http/request.ts";
import { parseHttpDateMs, parseRateLimit, parseRetryAfterSeconds } from "../http/quota-headers.ts";
import type { Transport, TransportRequest } from "../http/transport.ts";
import {
  type Budget,
  budgetAt,
  type BudgetRules,
  type CallClass,
  currentClass,
  newBudget,
  reserveFor,
  spentOf,
} from "./budget.ts";
import {
  afterEvent,
  type Answer,
  type Asking,
  type BudgetEvent,
  decide,
  type Decision,
  fleetSettlement,
  type Sending,
  type WhyWait,
} from "./decide.ts";
import type { FleetCount, FleetSettlement, Grant } from "./fleet-count.ts";
import { Turns } from "./turns.ts";

/**
 * A call waits here for a window, or an answer, that is this near; else it goes back unsent, and its place in the
 * worker is free.
 */
const PATIENCE_MS = 2_000;
/**
 * What goes back for want of requests stands in the queue again after this, and not only when the window begins: no
 * poll is open until then, and by the time that it came back the others would have taken the whole window. So a small
 * one of twenty businesses, one of which had nearly all the work, waited 2.3 times as long as under equal shares, at
 * worst 12.6 times; with this 1.00 and 1.19.
 */
const BACK_IN_LINE_MS = 250;
/** Those who waited for the same moment do not come back in the same: within this part of a window. */
const SPREAD = { interactive: 0.005, background: 0.02 } as const;
/** The count allows fewer under way than there are: others end theirs at any moment. */
const OTHERS_END_MS = 100;

export interface RateLimiterOptions {
  application: string;
  transport: Transport;
  rules: BudgetRules;
  /** Absent: this process counts alone. */
  count?: FleetCount | undefined;
  nowMs: () => number;
  random: () => number;
  watch: RateLimiterWatch;
}

/** Called on each call. */
export interface RateLimiterWatch {
  sent: (callClass: CallClass) => void;
  /** A 429 that happened anyway. */
  refused: (callClass: CallClass) => void;
  /** It went back unsent. */
  heldBack: (callClass: CallClass, why: WhyWait) => void;
}

interface Permit {
  call: Sending;
  grant: Grant | undefined;
}

/**
 * The one rate limiter in front of the transport for all connections of an application: every request is charged here,
 * as it is sent (docs/architecture.md, "One budget").
 */
export class RateLimiter implements Transport {
  readonly #options: RateLimiterOptions;
  readonly #turns: Turns;
  readonly #waiting: Record<CallClass, number> = { interactive: 0, background: 0 };
  #budget: Budget;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#turns = new Turns(options.nowMs);
    this.#budget = newBudget(options.rules, options.nowMs());
  }

  get application(): string {
    return this.#options.application;
  }

  get budget(): Budget {
    return budgetAt(this.#budget, this.#options.nowMs());
  }

  /** Requests of the window that are gone, or may be. */
  get spent(): number {
    return spentOf(this.budget);
  }

  get waiting(): Readonly<Record<CallClass, number>> {
    return this.#waiting;
  }

  /** @throws TransportError `held-back`; whatever the transport throws */
  async send(request: TransportRequest): Promise<HttpAnswer> {
    const passage = await this.#pass(request);
    this.#options.watch.sent(passage.call.callClass);
    try {
      const answer = await this.#options.transport.send(request);
      this.#answered(passage, answer);
      return answer;
    } catch (error) {
      this.#failed(passage, error);
      throw error;
    }
  }

  /** Whether a call of the class could be sent now: then a poll for one may be opened. */
  isOpen(callClass: CallClass): boolean {
    return this.#decide({ callClass, behind: this.#waiting[callClass] }).kind === "send";
  }

  /** Calls back once, when it may have opened for the class. @returns ends the wait */
  whenOpen(callClass: CallClass, listener: () => void): () => void {
    const decision = this.#decide({ callClass, behind: this.#waiting[callClass] });
    const untilMs = decision.kind === "wait" ? this.#spread(decision.untilMs, callClass) : this.#options.nowMs();
    return this.#turns.wait(untilMs, listener);
  }

  async #pass(request: TransportRequest): Promise<Permit> {
    const asking = { callClass: currentClass(), unrepeatable: request.freshConnection === true };
    const patientUntilMs = this.#options.nowMs() + PATIENCE_MS;
    for (;;) {
      const decision = this.#decide(asking);
      if (decision.kind === "send") {
        const passage = await this.#charge({ callClass: asking.callClass, probe: decision.probe });
        if (passage) return passage;
      }
      const again = this.#decide(asking);
      if (again.kind === "send") continue;
      const untilMs = this.#spread(again.untilMs, asking.callClass);
      await this.#wait(asking, again.why, untilMs, patientUntilMs, request.signal);
    }
  }

  /**
   * Undefined where it has to be decided anew: the fleet has nothing left for it, or the count that was relied upon is
   * away.
   */
  async #charge(call: Sending): Promise<Permit | undefined> {
    const relied = this.#budget.fleetSpent !== undefined;
    this.#apply({ kind: "sent", call });
    const { count, nowMs } = this.#options;
    const { limit, window } = this.#budget;
    const reserve = reserveFor(call.callClass, this.#budget, nowMs());
    const answer = await count?.spend(reserve, limit, window, nowMs());
    if (!answer) {
      this.#apply({ kind: "count-away" });
      if (!relied) return { call, grant: undefined };
      // It was let through without the narrowness of a process that counts alone, as were all that asked the count with
      // it. Sent like that, 33 of the 153 calls of the first window without the database were refused.
      this.#apply({ kind: "unsent", call });
      return undefined;
    }
    this.#apply({ kind: "counted", window: answer.window });
    if (answer.granted) return { call, grant: { number: answer.window.number, sequence: answer.sequence } };
    // Where requests are left, it is others' calls under way that it has to wait for.
    this.#apply({ kind: "unsent", call });
    if (this.#decide(call).kind === "send") this.#apply({ kind: "narrowed", againAtMs: this.#soon() });
    return undefined;
  }

  /** @throws TransportError: what it waits for is too far, or the caller gives up */
  #wait(
    { callClass }: Asking,
    why: WhyWait,
    untilMs: number | undefined,
    patientUntilMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { nowMs } = this.#options;
    if (untilMs !== undefined && untilMs > patientUntilMs)
      return Promise.reject(this.#heldBack(callClass, why, untilMs));
    if (nowMs() >= patientUntilMs) return Promise.reject(this.#heldBack(callClass, why, untilMs));
    this.#waiting[callClass] += 1;
    return this.#turns.next(Math.min(untilMs ?? patientUntilMs, patientUntilMs), signal).finally(() => {
      this.#waiting[callClass] -= 1;
    });
  }

  #heldBack(callClass: CallClass, why: WhyWait, untilMs: number | undefined): TransportError {
    const leftMs = Math.max(OTHERS_END_MS, Math.ceil((untilMs ?? 0) - this.#options.nowMs()));
    const queues = why === "spent" || why === "reserved" || why === "narrow";
    const retryAfterMs = queues ? Math.min(leftMs, BACK_IN_LINE_MS) : leftMs;
    this.#options.watch.heldBack(callClass, why);
    const message = `kept back by the request budget of ${this.application} (${why}), for ${leftMs} ms; nothing was sent`;
    return new TransportError(message, { code: "held-back", sent: "no", retryAfterMs });
  }

  #answered({ call, grant }: Permit, answer: HttpAnswer | NonNullable<TransportError["answered"]>): void {
    const { headers, status } = answer;
    const answeredAtMs = "answeredAtMs" in answer ? answer.answeredAtMs : answer.atMs;
    const sentAtMs = "sentAtMs" in answer ? answer.sentAtMs : answeredAtMs;
    const counted: Answer = {
      status,
      sentAtMs,
      answeredAtMs,
      rateLimit: parseRateLimit(headers),
      retryAfterSeconds: parseRetryAfterSeconds(headers, parseHttpDateMs(headers["date"]) ?? answeredAtMs),
    };
    if (status === 429) this.#options.watch.refused(call.callClass);
    if (grant) this.#settle(grant, fleetSettlement(counted, this.budget, this.#options.nowMs()));
    this.#apply({ kind: "answered", call, answer: counted });
  }

  #failed(passage: Permit, error: unknown): void {
    if (!(error instanceof TransportError)) {
      this.#apply({ kind: "lost", call: passage.call, failed: false, arrived: true });
      return;
    }
    const { answered, sentAtMs, sent } = error;
    if (answered) {
      this.#answered(passage, { ...answered, ...(sentAtMs !== undefined && { sentAtMs }) });
      return;
    }
    const arrived = sent === "maybe";
    if (passage.grant) this.#settle(passage.grant, { unsent: !arrived });
    this.#apply({ kind: "lost", call: passage.call, failed: !isOwnDoing(error), arrived });
  }

  /** Nobody waits for it. */
  #settle(grant: Grant, settlement: FleetSettlement): void {
    void this.#options.count?.settle(grant, settlement).then((window) => {
      if (window) this.#apply({ kind: "counted", window });
    });
  }

  #decide(asking: Asking): Decision {
    return decide(this.#budget, asking, this.#options.nowMs());
  }

  #apply(event: BudgetEvent): void {
    this.#budget = afterEvent(this.#budget, event, this.#options.nowMs());
    this.#turns.changed();
  }

  #spread(untilMs: number | undefined, callClass: CallClass): number | undefined {
    if (untilMs === undefined) return undefined;
    return untilMs + this.#options.random() * SPREAD[callClass] * this.#budget.window.lengthMs;
  }

  #soon(): number {
    return this.#options.nowMs() + OTHERS_END_MS * (0.5 + this.#options.random());
  }
}
