/**
 * What an operator sees and resolves, of a sale or a job alike: open attentions, updates, parking, the details in
 * Temporal's UI. Which codes there are, and what resolves each, is in `src/contract/attention.ts`; the updates of the
 * sale alone are in `workflows/sale/messages.ts`.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/sdk`.
 */
import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

import {
  type AcknowledgeRequest,
  type Attention,
  ATTENTION_CODES,
  type AttentionCode,
  type Decision,
  firstTrouble,
  type ResolvingUpdate,
  RESOLVED_BY,
  type RetryRequest,
  type ServiceTrouble,
  type ServiceWait,
} from "../../src/contract/index.ts";
import { countAttention, stepsTaken } from "../sdk/interceptors.ts";

/** From so many on a job goes on as a new run within a page, where a refused call is about to be made again. */
const STEPS_WITHIN_A_PAGE = 200;

export interface Allowed {
  stands: string;
  updates: string[];
}

/** `sinceMs`: if it is about something that began earlier; default: now. */
export type NewAttention = Omit<Attention, "sinceMs" | "resolvedBy"> &
  Partial<Pick<Attention, "resolvedBy" | "sinceMs">>;

export function attentionKey(code: AttentionCode, subject?: string): string {
  return subject === undefined ? code : `${code} ${subject}`;
}

export function mostPressingFirst(attentions: readonly Attention[]): Attention[] {
  const rank = ({ code }: Attention): number => ATTENTION_CODES.indexOf(code);
  return attentions.toSorted((one, other) => rank(one) - rank(other));
}

/** What every run keeps for the operator. */
export abstract class AttentionList {
  /** In words: what happens next, and when. */
  waitingFor = "the start";
  readonly decisions: Decision[] = [];
  /** When an operator last asked to try again, whatever it was about (Unix milliseconds). */
  retriedAtMs: number | undefined;

  readonly #attentions = new Map<string, Attention>();
  readonly #retries = new Map<string, number>();

  abstract publish(): void;

  /** For the error that refuses an update: how the run stands, in words, and which updates it takes now. */
  abstract get allowed(): Allowed;

  /** Set while the run waits before an automatic try: ends that wait. */
  bringForward: (() => void) | undefined;

  /**
   * Waits until a call that the service refused or deferred is worth another try, by one activity: a long wait adds
   * nothing to the history. Set once the connection is known.
   */
  awaitService: ((summary: string, wait: ServiceWait) => Promise<void>) | undefined;

  /** Whether the next run can take over the calls that this one is still trying. Set by a job, step by step. */
  handsOverCalls = false;
  /** Whether all waits between two tries are over, since the run continues as new. */
  waitsEnded = false;

  readonly #serviceTroubles = new Map<object, ServiceTrouble>();

  /** As a deferred call of this run has met it; the one that began first. */
  get serviceTrouble(): ServiceTrouble | undefined {
    return firstTrouble([...this.#serviceTroubles.values()]);
  }

  /** Shows why the call waits for its next try; undefined once it does not. */
  showServiceTrouble(call: object, trouble: ServiceTrouble | undefined): void {
    if (trouble) this.#serviceTroubles.set(call, trouble);
    else if (!this.#serviceTroubles.delete(call)) return;
    this.publish();
  }

  /** To be called before a call is made again. True: its try is left to the next run, and all other waits end too. */
  endWaitsIfDue(): boolean {
    return (this.waitsEnded ||= this.handsOverCalls && stepsTaken() >= STEPS_WITHIN_A_PAGE);
  }

  /** The reason that came with the request to cancel. */
  cancelRequested: string | undefined;

  /** A cancellation that can be carried out now. */
  abstract get cancelDue(): boolean;

  /** The updates that the run takes, once it takes any: no other one is named as what resolves an attention. */
  takes: ReadonlySet<string> | undefined;

  protected attentionChanged(_change: "raised" | "cleared", _attention: Attention): void {}

  /** The most pressing first. */
  get attentions(): Attention[] {
    return mostPressingFirst([...this.#attentions.values()]);
  }

  get allAttentions(): Attention[] {
    return this.attentions;
  }

  /** All that it can resolve, or those with the code and the subject that it names. */
  resolvableBy(update: ResolvingUpdate, { code, subject }: { code?: string; subject?: string }): Attention[] {
    return this.attentions.filter(
      (one) =>
        one.resolvedBy.includes(update) &&
        (code === undefined || one.code === code) &&
        (subject === undefined || one.subject === subject),
    );
  }

  /** @param attention with `resolvedBy` where not all that can resolve its code makes sense here */
  raise(attention: NewAttention): string {
    const key = attentionKey(attention.code, attention.subject);
    if (!this.#attentions.has(key)) {
      const resolvedBy = RESOLVED_BY[attention.code].filter((update) => this.takes?.has(update) !== false);
      const raised = { resolvedBy, sinceMs: Date.now(), ...attention };
      this.#attentions.set(key, raised);
      countAttention(attention.code);
      this.attentionChanged("raised", raised);
      this.publish();
    }
    return key;
  }

  retriesOf(key: string): number {
    return this.#retries.get(key) ?? 0;
  }

  /** What was decided in runs before this one comes first. A restart may have brought some of it already. */
  takeOverDecisions(earlier: readonly Decision[]): void {
    const isKnown = ({ update, subject, atMs }: Decision): boolean =>
      this.decisions.some((one) => one.update === update && one.subject === subject && one.atMs === atMs);
    this.decisions.unshift(...earlier.filter((one) => !isKnown(one)));
  }

  decide(decision: Omit<Decision, "atMs">, atMs = Date.now()): void {
    this.decisions.push({ ...decision, atMs });
  }

  /** The first one counts, with the name of its sender. Temporal's own cancellation has no name. */
  protected takeCancellation(reason: string, by: string | undefined): void {
    if (this.cancelRequested !== undefined) return;
    this.cancelRequested = reason;
    this.decide({ update: "cancel", note: reason, by });
  }

  /** The named attention, else everything that waits for a retry; a slow authority only if nothing else does. */
  countRetry(request: RetryRequest): void {
    const { note = "", by } = request;
    this.retriedAtMs = Date.now();
    if (this.meansAutomaticTry(request)) {
      this.bringForward?.();
      this.decide({ update: "retry", code: "rejected", note, by });
    }
    const named = this.resolvableBy("retry", request);
    const pressing = named.filter((one) => one.code !== "authority-slow");
    for (const { code, subject } of request.code !== undefined || pressing.length === 0 ? named : pressing) {
      const key = attentionKey(code, subject);
      this.#retries.set(key, this.retriesOf(key) + 1);
      this.decide({ update: "retry", code, subject, note, by });
    }
  }

  /** It names nothing else. */
  meansAutomaticTry({ code, subject }: Pick<RetryRequest, "code" | "subject">): boolean {
    return this.bringForward !== undefined && (code === undefined || code === "rejected") && subject === undefined;
  }

  /** Replaces what an open attention says. The time since when it is open stays. */
  updateMessage(key: string, { message, evidence }: Pick<Attention, "message" | "evidence">): void {
    const attention = this.#attentions.get(key);
    if (!attention || attention.message === message) return;
    attention.message = message;
    if (evidence) attention.evidence = evidence;
    else delete attention.evidence;
    this.publish();
  }

  addEvidence(key: string, evidence: Record<string, unknown>): void {
    const attention = this.#attentions.get(key);
    if (!attention) return;
    attention.evidence = { ...attention.evidence, ...evidence };
    this.publish();
  }

  /** An operator has taken note of what cannot be corrected here. What taking note of does not answer stays. */
  acknowledge({ note, by, ...request }: AcknowledgeRequest): void {
    for (const { code, subject } of this.resolvableBy("acknowledge", request)) {
      this.decide({ update: "acknowledge", code, subject, note, by });
      this.clear(attentionKey(code, subject));
    }
  }

  needs(key: string): boolean {
    return this.#attentions.has(key);
  }

  clear(key: string): void {
    const cleared = this.#attentions.get(key);
    if (!cleared) return;
    this.#attentions.delete(key);
    this.attentionChanged("cleared", cleared);
    this.publish();
  }

  /** Resolves once no attention is open: a run does not close while an operator has something to see. */
  async noAttentionOpen(): Promise<void> {
    await condition(() => this.#attentions.size === 0);
  }
}

/**
 * `acknowledged`: by the attention's own update. `woken`: what it waited for is there. `again`: the wait ended without
 * it, so the step has to look for itself.
 */
export type Verdict = "retry" | "acknowledged" | "woken" | "again";

export interface Wakes {
  /** Runs while the run is parked. True: what it waited for is there. */
  wake?: () => Promise<boolean>;
  until?: () => boolean;
  /** The attention outlasts a wake: the caller of `park` clears it once what it is about is over. */
  keepsAfterWake?: boolean;
}

/**
 * Raises an attention, and waits until it is resolved. A cancellation that was requested before counts at once.
 * @throws CancelledByOperator if the attention can be resolved by that
 */
export async function park(run: AttentionList, attention: NewAttention, wakes: Wakes = {}): Promise<Verdict> {
  const key = run.raise(attention);
  const updates = attention.resolvedBy ?? RESOLVED_BY[attention.code];
  const retriesBefore = run.retriesOf(key);
  const waking = wakes.wake && new Running(wakes.wake);
  const cancelled = (): boolean => updates.includes("cancel") && run.cancelDue;
  const retried = (): boolean => run.retriesOf(key) > retriesBefore;
  let acknowledged = false;
  let woken: boolean | undefined;
  let lasting = false;
  try {
    await condition(
      () => cancelled() || retried() || !run.needs(key) || waking?.done === true || wakes.until?.() === true,
    );
    acknowledged = !run.needs(key);
    woken = waking?.result;
    lasting = wakes.keepsAfterWake === true && waking?.done === true && !cancelled() && !retried();
  } finally {
    // Also if the step itself is cancelled: an attention must not outlive what it is about.
    if (!lasting) run.clear(key);
    await waking?.end();
  }
  if (cancelled()) throw new CancelledByOperator();
  if (acknowledged) return "acknowledged";
  if (retried()) return "retry";
  return woken ? "woken" : "again";
}

/** A step that goes on by itself, and can be ended. It never throws: its fields say what it came to. */
export class Running<Result> {
  done = false;
  result: Result | undefined;
  failure: unknown;
  readonly #scope = new CancellationScope();
  readonly #over: Promise<void>;

  constructor(step: () => Promise<Result>) {
    this.#over = this.#scope.run(step).then(
      (result) => {
        this.result = result;
        this.done = true;
      },
      (failure: unknown) => {
        this.failure = failure;
        this.done = true;
      },
    );
  }

  async end(): Promise<void> {
    this.#scope.cancel();
    await this.#over;
  }

  /** @throws what it failed with, unless it was cancelled */
  resultOrThrow(): Result | undefined {
    if (this.failure !== undefined && !isCancellation(this.failure)) throw this.failure;
    return this.result;
  }
}

/** Ends the wait once `orUntil` is true. After a failure the caller tries its call again, and sees for itself. */
export async function untilDone(wait: () => Promise<unknown>, orUntil: () => boolean): Promise<void> {
  const waiting = new Running(wait);
  await condition(() => waiting.done || orUntil());
  await waiting.end();
}

/** No document stands in the way. The main flow catches it. */
export class CancelledByOperator extends Error {
  override readonly name = "CancelledByOperator";
}

/**
 * For a step that a cancellation may end at once: while it runs nothing exists that would have to be undone.
 * @throws CancelledByOperator
 */
export async function unlessCancelled<T>(run: AttentionList, step: () => Promise<T>): Promise<T>;
/** @param orUntil ends it too: then there is no result */
export async function unlessCancelled<T>(
  run: AttentionList,
  step: () => Promise<T>,
  orUntil: () => boolean,
): Promise<T | undefined>;
export async function unlessCancelled<T>(
  run: AttentionList,
  step: () => Promise<T>,
  orUntil: () => boolean = () => false,
): Promise<T | undefined> {
  const running = new Running(step);
  await condition(() => running.done || run.cancelDue || orUntil());
  const isCancelled = run.cancelDue;
  const isEnded = isCancelled || !running.done;
  await running.end();
  const { failure, result } = running;
  if (failure !== undefined && !(isEnded && isCancellation(failure))) throw failure;
  if (isCancelled) throw new CancelledByOperator();
  return result;
}
