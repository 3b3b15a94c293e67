import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

import {
  type Attention,
  ATTENTION_CODES,
  type AttentionCode,
  type Decision,
  type Mend,
  RESOLVED_BY,
  type RetryRequest,
  type ServiceWait,
} from "../../src/contract/index.ts";
import type { ContinueAsNewPolicy } from "../job/continue-as-new-policy.ts";

/** `sinceMs`: where it is about something that began earlier; default: now. */
export type NewAttention = Omit<Attention, "sinceMs" | "resolvedBy"> &
  Partial<Pick<Attention, "resolvedBy" | "sinceMs">>;

export function attentionKey(code: AttentionCode, subject?: string): string {
  return subject === undefined ? code : `${code} ${subject}`;
}

/** What every run has that a person may be needed for: what for, since when, and what the person said. */
export abstract class AttentionList {
  /** In words: what happens next, and when. */
  waitingFor = "the start";
  readonly decisions: Decision[] = [];
  /** When a person last asked to try again, whatever it was about (Unix milliseconds). */
  retriedAtMs: number | undefined;

  readonly #attentions = new Map<string, Attention>();
  readonly #retries = new Map<string, number>();

  /** Shows the run as it is now. */
  abstract publish(): void;

  /** What the run takes of messages now, for a person whose message it does not take. */
  abstract get allowedUpdates(): string;

  /** Set while an automatic try waits for its time: brings it forward. */
  bringForward: (() => void) | undefined;

  /**
   * Waits, without history, until a call that the service did not take is worth another try. Set once it is known where
   * calls go.
   */
  awaitService: ((wait: ServiceWait) => Promise<void>) | undefined;

  /** Of a job, whose history may grow long. A document's run never continues as new. */
  readonly continueAsNew: ContinueAsNewPolicy | undefined = undefined;

  /** Why a person wants it to be given up. */
  cancelRequested: string | undefined;

  /** A cancellation that can be carried out now. */
  abstract get cancelDue(): boolean;

  /** What can mend an attention here where it does not say so itself. */
  protected mendsOf(code: AttentionCode): readonly Mend[] {
    return RESOLVED_BY[code];
  }

  /** For a run that keeps the history of its attentions. */
  protected attentionChanged(_change: "raised" | "cleared", _attention: Attention): void {}

  /** The most pressing first. */
  get attentions(): Attention[] {
    const rank = (attention: Attention): number => ATTENTION_CODES.indexOf(attention.code);
    return [...this.#attentions.values()].toSorted((a, b) => rank(a) - rank(b));
  }

  /** @param attention with `resolvedBy` where not all that can mend its code makes sense here */
  raise(attention: NewAttention): string {
    const key = attentionKey(attention.code, attention.subject);
    if (!this.#attentions.has(key)) {
      const raised = { resolvedBy: this.mendsOf(attention.code), sinceMs: Date.now(), ...attention };
      this.#attentions.set(key, raised);
      this.attentionChanged("raised", raised);
      this.publish();
    }
    return key;
  }

  /** How often a person asked to try again what this attention is about. */
  retriesOf(key: string): number {
    return this.#retries.get(key) ?? 0;
  }

  /** Keeps what a person said, and when. */
  decide({ note, by, ...said }: Omit<Decision, "by" | "atMs"> & { by?: string | undefined }, atMs = Date.now()): void {
    this.decisions.push({ ...said, note, ...(by !== undefined && { by }), atMs });
  }

  /**
   * Counts a retry for what it means: the named attention, else everything that waits for one. A slow authority is only
   * a notice: where something else waits, that is what a retry without a name means.
   */
  countRetry(request: RetryRequest): void {
    const { note, by } = request;
    this.retriedAtMs = Date.now();
    if (this.meansAutomaticTry(request)) {
      this.bringForward?.();
      if (note !== undefined) this.decide({ update: "retry", code: "rejected", note, by });
    }
    const waiting = this.attentions.filter((one) => one.resolvedBy.includes("retry"));
    const named = waiting.filter(
      (one) =>
        (request.code === undefined || one.code === request.code) &&
        (request.subject === undefined || one.subject === request.subject),
    );
    const pressing = named.filter((one) => one.code !== "authority-slow");
    for (const { code, subject } of request.code !== undefined || pressing.length === 0 ? named : pressing) {
      const key = attentionKey(code, subject);
      this.#retries.set(key, this.retriesOf(key) + 1);
      if (note !== undefined)
        this.decide({ update: "retry", code, ...(subject !== undefined && { subject }), note, by });
    }
  }

  /** Whether a retry means the automatic try that waits for its time: it names nothing else. */
  meansAutomaticTry({ code, subject }: Pick<RetryRequest, "code" | "subject">): boolean {
    return this.bringForward !== undefined && (code === undefined || code === "rejected") && subject === undefined;
  }

  /** Where something else is said of what an attention is about; it stands since it was raised. */
  retell(key: string, { message, evidence }: Pick<Attention, "message" | "evidence">): void {
    const attention = this.#attentions.get(key);
    if (!attention || attention.message === message) return;
    attention.message = message;
    if (evidence) attention.evidence = evidence;
    else delete attention.evidence;
    this.publish();
  }

  /** More is known of what an attention is about. */
  addEvidence(key: string, evidence: Record<string, unknown>): void {
    const attention = this.#attentions.get(key);
    if (!attention) return;
    attention.evidence = { ...attention.evidence, ...evidence };
    this.publish();
  }

  /** A person has taken note of what cannot be mended here. What taking note of does not answer stays. */
  acknowledge({ note, by, ...request }: { code: string; subject?: string; note: string; by?: string }): void {
    for (const { code, subject, resolvedBy } of this.attentions) {
      if (!resolvedBy.includes("acknowledge")) continue;
      if (code !== request.code || (request.subject !== undefined && request.subject !== subject)) continue;
      this.decide({ update: "acknowledge", code, ...(subject !== undefined && { subject }), note, by });
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

  /** Ends once no attention is left: what a person must see is not closed away. */
  async nothingNeeded(): Promise<void> {
    await condition(() => this.#attentions.size === 0);
  }
}

/**
 * `acknowledged`: a person answered with the attention's own update. `woken`: what it waited for is there. `again`: the
 * wait ended without it, so the step has to look for itself.
 */
export type Verdict = "retry" | "cancel" | "acknowledged" | "woken" | "again";

export interface Wakes {
  /**
   * Runs while the run is parked. True: what it waited for is there; false, or a failure: the step has to look for
   * itself.
   */
  wake?: () => Promise<boolean>;
  /** Checked with every change of the run. */
  until?: () => boolean;
  /** The attention outlasts a wake: whoever parks clears it once what it is about is over. */
  lasts?: boolean;
}

/** Waits, with a stated reason, for whatever mends it. A cancellation that was asked for earlier counts at once. */
export async function park(run: AttentionList, attention: NewAttention, wakes: Wakes = {}): Promise<Verdict> {
  const key = attentionKey(attention.code, attention.subject);
  const mends = attention.resolvedBy ?? RESOLVED_BY[attention.code];
  const retriesBefore = run.retriesOf(key);
  run.raise(attention);
  const scope = new CancellationScope();
  let woken: "woken" | "again" | undefined;
  const waking = wakes.wake
    ? scope.run(wakes.wake).then(
        (there) => (woken = there ? "woken" : "again"),
        () => (woken = "again"),
      )
    : undefined;
  const cancelled = (): boolean => mends.includes("cancel") && run.cancelDue;
  const retried = (): boolean => run.retriesOf(key) > retriesBefore;
  let acknowledged = false;
  let lasting = false;
  try {
    await condition(
      () => cancelled() || retried() || !run.needs(key) || woken !== undefined || wakes.until?.() === true,
    );
    acknowledged = !run.needs(key);
    lasting = wakes.lasts === true && woken !== undefined && !cancelled() && !retried();
  } finally {
    // Also where the step itself is cancelled: an attention must not outlive what it is about.
    if (!lasting) run.clear(key);
    scope.cancel();
  }
  const cameBy = woken;
  await waking;
  if (cancelled()) return "cancel";
  if (acknowledged) return "acknowledged";
  return retried() ? "retry" : (cameBy ?? "again");
}

/** Waits for an activity that waits for the outside world, or until it need not be waited for any more. */
export async function untilDone(wait: () => Promise<unknown>, orUntil: () => boolean): Promise<void> {
  const scope = new CancellationScope();
  let there = false;
  const waiting = scope.run(wait).then(
    () => (there = true),
    // Whoever waits looks again, and is told again that it is away.
    () => (there = true),
  );
  await condition(() => there || orUntil());
  scope.cancel();
  await waiting;
}

/**
 * A person asked to cancel, and no document stands in the way. Ends the body's way forward, never the workflow as
 * failed.
 */
export class CancelledByPerson extends Error {
  override readonly name = "CancelledByPerson";

  constructor(reason: string) {
    super(`cancelled: ${reason}`);
  }
}

/**
 * Runs a step that a cancellation may end at once, since while it runs nothing exists that would have to be undone.
 * @throws CancelledByPerson
 */
export async function unlessCancelled<T>(run: AttentionList, step: () => Promise<T>): Promise<T> {
  const scope = new CancellationScope();
  let done = false;
  const running = scope.run(step).finally(() => (done = true));
  running.catch(() => undefined);
  await condition(() => done || run.cancelDue);
  if (done) return await running;
  scope.cancel();
  await running.catch((error: unknown) => {
    if (!isCancellation(error) && !(error instanceof CancelledByPerson)) throw error;
  });
  throw new CancelledByPerson(run.cancelRequested ?? "");
}
