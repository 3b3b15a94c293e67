import { condition, sleep, uuid4, workflowInfo } from "@temporalio/workflow";

import type { Deferred, MovementTry, Refusal } from "../../src/contract/index.ts";
import {
  type AttentionList,
  attentionKey,
  CancelledByPerson,
  type NewAttention,
  park,
  untilDone,
  type Verdict,
} from "../operator/attention-list.ts";
import { ledger } from "../proxies.ts";

/** What an attention says beside the refusal, and what else ends its wait. */
interface About {
  code?: NewAttention["code"];
  subject?: string;
  message?: string;
  until?: () => boolean;
}

/**
 * So many pauses of a call that is put off are timers of the workflow, from a second to a quarter of an hour; the later
 * ones cost no history.
 */
const MOST_TIMERS = 10;

/**
 * So many tries of a call whose answer is lost are made by themselves, within a quarter of an hour; then a person is
 * shown that it does not get through.
 */
const MOST_LOST = 10;

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** The pause before another try, doubling from a second to ten minutes, where the service does not say how long. */
export function growingPauseMs(triesBefore: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(triesBefore, 20), LONGEST_PAUSE_MS);
}

/** Whether a call's result is the answer that its step works with, and not one that needs a person. */
export function isRefusal(result: { kind: string }): result is Refusal {
  return result.kind === "refused";
}

/** The history is long: what is left is for the next run. */
export class CutShort extends Error {
  override readonly name = "CutShort";

  constructor() {
    super("to be continued in a new run");
  }
}

/** Undefined for a wait that was ended so. @throws every other error */
export function unlessCutShort(error: unknown): undefined {
  if (!(error instanceof CutShort)) throw error;
}

/**
 * Makes a call that may be repeated, until it has an answer that its step can work with. Everything else parks the run
 * with the stated reason.
 * @param tries those of before, where the call follows one that was refused
 * @throws CancelledByPerson where a person cancels instead of mending it; CutShort
 */
export async function callWithEscalation<T extends { kind: string }>(
  run: AttentionList,
  call: () => Promise<T | Refusal>,
  tries: Tries = new Tries(run),
): Promise<Exclude<T, Refusal>> {
  try {
    for (;;) {
      const result = await call();
      if (!isRefusal(result)) return result as Exclude<T, Refusal>;
      await tries.refused(result);
    }
  } finally {
    // Also where the step itself is cancelled: an attention must not outlive what it is about.
    tries.notRefused();
  }
}

/**
 * What lies between the tries of one call: a person, where it was refused; a pause, where it was put off or its answer
 * is lost. A refused key wakes by itself, and its attention stands from the first refusal until the call has another
 * answer: since when a person is needed is no matter of when it was looked at last.
 */
export class Tries {
  readonly #run: AttentionList;
  #refusal: { key: string; sinceMs: number } | undefined;
  #putOff = 0;
  #growing = 0;
  #putOffSinceMs = 0;
  #lost = 0;
  #lostSince: { subject: string; sinceMs: number } | undefined;

  constructor(run: AttentionList) {
    this.#run = run;
  }

  /** Whether the attention of an earlier refusal stands while the call is made again. */
  get refusalStands(): boolean {
    return this.#refusal !== undefined && this.#run.needs(this.#refusal.key);
  }

  /**
   * Parks until the call is worth another try.
   * @throws CancelledByPerson
   * @throws CutShort
   */
  async refused(refusal: Refusal): Promise<void> {
    const run = this.#run;
    await this.refusedAbout(refusal, { until: () => run.cancelDue || run.cutShort });
    if (run.cutShort || run.endsWaits()) throw new CutShort();
    if (!run.cancelDue) return;
    this.notRefused();
    throw new CancelledByPerson(run.cancelRequested ?? "");
  }

  /** Parks until the call is worth another try, where a cancellation is answered elsewhere. */
  async refusedAbout(refusal: Refusal, about: About = {}): Promise<Verdict> {
    const { code = refusal.attention, subject, message = refusal.message, until } = about;
    const attention = { code, message, ...(subject !== undefined && { subject }), ...evidenceOf(refusal) };
    const ends = { ...(until && { until }) };
    if (code === "credentials") return await this.#keyRefused(attention, ends, refusal);
    this.notRefused();
    // Taking note of it would not answer the call.
    const mends = code === "unexpected-answer" && { resolvedBy: ["retry"] as const };
    return await park(this.#run, { ...attention, ...mends }, ends);
  }

  /** The call has another answer than a refusal. */
  notRefused(): void {
    if (this.#refusal) this.#run.clear(this.#refusal.key);
    this.#refusal = undefined;
  }

  /**
   * Waits after a call that was put off: refused by the quota, or not sent at all. An outage of the ledger costs no
   * history.
   */
  async deferred({ waitFor, retryAfterMs }: Partial<Deferred>, until: () => boolean): Promise<void> {
    if (waitFor === "ledger") return await untilDone(() => ledger.awaitLedger(), until);
    const { awaitService } = this.#run;
    if (this.#putOff++ === 0) this.#putOffSinceMs = Date.now();
    if (this.#putOff > MOST_TIMERS && awaitService) {
      await untilDone(() => awaitService({ triedAtMs: Date.now(), sinceMs: this.#putOffSinceMs }), until);
    } else await condition(until, retryAfterMs ?? growingPauseMs(this.#growing++));
  }

  /**
   * The pause before another try of a write whose answer was lost, although a look shows that nothing came of it. It
   * goes on by itself, ever more rarely, and a person can end that.
   * @param what was tried
   * @param pause how a short one is made
   */
  async lost(what: string, subject: string, pause: (ms: number) => Promise<unknown> = sleep): Promise<void> {
    const run = this.#run;
    const { awaitService } = run;
    if (this.#lost < MOST_LOST || !awaitService) {
      await pause(growingPauseMs(this.#lost++));
      return;
    }
    const nowMs = Date.now();
    const { sinceMs } = (this.#lostSince ??= { subject, sinceMs: nowMs });
    const wake = (): Promise<boolean> => awaitService({ triedAtMs: nowMs, sinceMs }).then(() => true);
    const message = `${what} was tried ${MOST_LOST} times and more, and nothing came of it. It is still tried, ever more rarely.`;
    const resolvedBy = ["retry", "cancel"] as const;
    const attention = { code: "unexpected-answer", subject, message, sinceMs, resolvedBy } as const;
    await park(run, attention, { wake, lasts: true, until: () => run.cutShort });
  }

  /** A call whose answers were lost got through, or ends otherwise. */
  notLost(): void {
    if (this.#lostSince) this.#run.clear(attentionKey("unexpected-answer", this.#lostSince.subject));
  }

  /** A key is mended by `retry` alone, but nobody should have to mend a key in order to cancel. */
  async #keyRefused(
    attention: NewAttention,
    ends: { until?: () => boolean },
    { status, operation }: Refusal,
  ): Promise<Verdict> {
    const run = this.#run;
    const { awaitService } = run;
    if (!awaitService) throw new Error("a key can be refused only once it is known where calls go");
    const key = attentionKey(attention.code, attention.subject);
    const sinceMs = this.#refusal?.key === key ? this.#refusal.sinceMs : Date.now();
    run.retell(key, attention);
    this.#refusal = { key, sinceMs };
    const refused = { ...(status !== undefined && { status }), ...(operation !== undefined && { operation }) };
    const wake = (): Promise<boolean> => awaitService({ triedAtMs: Date.now(), sinceMs, refused }).then(() => true);
    const verdict = await park(run, { ...attention, sinceMs }, { ...ends, wake, lasts: true });
    // Another call found the key to be good, which ends this trouble too.
    if (verdict === "acknowledged") this.#refusal = undefined;
    return verdict;
  }
}

function evidenceOf(refusal: Refusal): { evidence?: Record<string, unknown> } {
  const { status, apiCode, details } = refusal;
  const evidence = { ...(status && { status }), ...(apiCode && { apiCode }), ...details };
  return Object.keys(evidence).length > 0 ? { evidence } : {};
}

/**
 * Counts the tries of one call that is not to be repeated. Each has a claim of its own in the ledger; the next one is
 * begun only once the last is known not to have been applied.
 */
export class ClaimedTries {
  #current: MovementTry = { generation: 1, token: ownToken() };
  #previous: MovementTry | undefined;

  get generation(): number {
    return this.#current.generation;
  }

  /** What the next activity claims. */
  get claim(): MovementTry & { previous?: MovementTry } {
    return { ...this.#current, ...(this.#previous && { previous: this.#previous }) };
  }

  get current(): MovementTry {
    return this.#current;
  }

  /** The current try is known not to have been applied. */
  next(): void {
    this.#previous = this.#current;
    this.#current = { generation: this.#current.generation + 1, token: ownToken() };
  }

  /** Somebody else's tries, up to this one, are known not to have been applied. */
  after(generation: number): void {
    this.#previous = undefined;
    this.#current = { generation: Math.max(generation, this.#current.generation) + 1, token: ownToken() };
  }
}

/**
 * A token of this run alone. A run that was reset replays what was drawn before its point: a random text alone would be
 * the one under which the run of before may have sent.
 */
function ownToken(): string {
  return `${workflowInfo().runId}/${uuid4()}`;
}
