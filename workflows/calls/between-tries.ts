/**
 * What happens between two tries of a call: an operator, a pause, a wait for the service or the ledger; and how the
 * tries of a call that is sent at most once are counted. What one try is, its timeouts and its end without a result, is
 * in `workflows/proxies.ts`.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/operator`.
 */
import { condition, sleep, uuid4 } from "@temporalio/workflow";

import {
  boundedSummary,
  type CallUnderWay,
  type ClaimedTry,
  type Deferred,
  type DeferredTry,
  type Refusal,
  type ServiceTrouble,
} from "../../src/contract/index.ts";
import {
  attentionKey,
  type AttentionList,
  CancelledByOperator,
  type NewAttention,
  park,
  untilDone,
  type Verdict,
} from "../operator/attention-list.ts";
import { growingPauseMs, ledger, type LostAnswer } from "../proxies.ts";

/** What the attention says in place of the refusal's own words. */
interface AttentionOptions extends Partial<Pick<NewAttention, "code" | "subject" | "message">> {
  until?: () => boolean;
}

/** After so many deferrals in a row, a quarter of an hour, one activity waits: it adds nothing to the history. */
const MOST_TIMERS = 10;

/** After so many lost answers, within a quarter of an hour, an operator is shown that the call does not get through. */
const MOST_LOST_ANSWERS = 10;

const WAIT_FOR_SERVICE = "Wait until the service takes the call: each attempt is one look";

/** An operator must correct something before the call is tried again. */
export function isRefusal(result: { kind: string }): result is Refusal {
  return result.kind === "refused";
}

/** It ends by itself, once the service accepts the key or takes the call: it says nothing about what was asked for. */
export function endsOnceServed({ attention, unserved }: Refusal): boolean {
  return attention === "credentials" || unserved === true;
}

/** Thrown in place of another try: the run that continues this one makes the call. */
export class LeftToNextRun extends Error {
  override readonly name = "LeftToNextRun";
}

/**
 * Tries a call that may be repeated again after each refusal. While it is refused the run is parked.
 * @param betweenTries given if the call has been refused before
 * @throws CancelledByOperator if an operator cancels in place of correcting it; LeftToNextRun
 */
export async function callWithEscalation<T extends { kind: string }>(
  run: AttentionList,
  call: () => Promise<T | Refusal>,
  betweenTries: BetweenTries = new BetweenTries(run),
): Promise<Exclude<T, Refusal>> {
  try {
    for (;;) {
      const result = await call();
      if (!isRefusal(result)) return result as Exclude<T, Refusal>;
      await betweenTries.waitAfterRefusal(result);
    }
  } finally {
    // In `finally`, since the step itself may be cancelled: an attention must not outlive its cause.
    betweenTries.clearRefusal();
  }
}

/**
 * Makes a call that a document can do without: an operator can give it up, which returns undefined. No cancellation
 * ends it, since it may be made because of one.
 */
export async function callOrGiveUp<T extends { kind: string }>(
  run: AttentionList,
  call: () => Promise<T | Refusal>,
  about: (refusal: Refusal) => NewAttention,
): Promise<Exclude<T, Refusal> | undefined> {
  const betweenTries = new BetweenTries(run);
  try {
    for (;;) {
      const result = await call();
      if (!isRefusal(result)) return result as Exclude<T, Refusal>;
      if (endsOnceServed(result)) {
        await betweenTries.parkOnRefusal(result);
        continue;
      }
      betweenTries.clearRefusal();
      if ((await park(run, { ...about(result), ...evidenceOf(result) })) === "acknowledged") return undefined;
    }
  } finally {
    betweenTries.clearRefusal();
  }
}

/**
 * Decides what happens between two tries of one call (a try is one activity, with all of Temporal's attempts). The
 * attention for a refused key stands from the first refusal until the call has another result, so that it shows since
 * when an operator is needed.
 */
export class BetweenTries {
  readonly #run: AttentionList;
  #refusal: { key: string; sinceMs: number } | undefined;
  #deferrals = 0;
  #deferredSinceMs = 0;
  #ledgerWaits = 0;
  #trouble: ServiceTrouble | undefined;
  #lostAnswers = 0;
  #lostAttention: { subject: string; sinceMs: number } | undefined;

  constructor(run: AttentionList) {
    this.#run = run;
  }

  /** Whether the attention for an earlier refusal is still shown while the call is tried again. */
  get refusalStands(): boolean {
    return this.#refusal !== undefined && this.#run.needs(this.#refusal.key);
  }

  /** @throws CancelledByOperator; LeftToNextRun */
  async waitAfterRefusal(refusal: Refusal): Promise<void> {
    const run = this.#run;
    await this.parkOnRefusal(refusal, { until: () => run.cancelDue || run.waitsEnded });
    if (run.endWaitsIfDue()) throw new LeftToNextRun();
    if (!run.cancelDue) return;
    this.clearRefusal();
    throw new CancelledByOperator();
  }

  /** For a caller that handles cancellation, and whatever else ends the wait, by itself. */
  async parkOnRefusal(refusal: Refusal, options: AttentionOptions = {}): Promise<Verdict> {
    const { code = refusal.attention, subject, message = refusal.message, until } = options;
    // `acknowledge` alone would leave the call without an answer.
    const updates = code === "unexpected-answer" && { resolvedBy: ["retry"] as const };
    const about = { ...(subject !== undefined && { subject }), ...evidenceOf(refusal), ...updates };
    const attention = { code, message, ...about };
    if (code === "credentials" || refusal.unserved) return await this.#parkUntilServed(attention, until, refusal);
    this.clearRefusal();
    return await park(this.#run, attention, { until });
  }

  /** To be called once the call has another result than a refusal. */
  clearRefusal(): void {
    if (this.#refusal) this.#run.clear(this.#refusal.key);
    this.#refusal = undefined;
  }

  /** After a call that was not carried out: over the quota, not sent, or without the ledger. */
  async waitAfterDeferral({ waitFor, retryAfterMs, trouble }: Partial<Deferred>, until: () => boolean): Promise<void> {
    if (waitFor === "ledger") {
      // It may answer, and still not take this call's claim: such tries must not follow each other without a pause.
      const summary = "The ledger was back, and did not take it: try again after a pause";
      const waits = this.#ledgerWaits++;
      if (waits > 0) await condition(until, growingPauseMs(waits - 1), { summary });
      return await untilDone(() => ledger.awaitLedger("Wait for the ledger: each attempt is one look"), until);
    }
    const { awaitService } = this.#run;
    if (this.#deferrals++ === 0) this.#deferredSinceMs = Date.now();
    this.#trouble = sinceBefore(trouble, this.#trouble);
    this.#run.showServiceTrouble(this, this.#trouble);
    try {
      if (this.#deferrals > MOST_TIMERS && awaitService) {
        await untilDone(
          () => awaitService(WAIT_FOR_SERVICE, { triedAtMs: Date.now(), sinceMs: this.#deferredSinceMs }),
          until,
        );
      } else {
        const pauseMs = retryAfterMs ?? growingPauseMs(this.#deferrals - 1);
        await condition(until, pauseMs, { summary: "The call was put off: try again after a pause" });
      }
    } finally {
      this.#run.showServiceTrouble(this, undefined);
    }
  }

  /**
   * Before another try of a write whose answer was lost and which, as a read shows, had no effect. The tries become
   * rarer and never stop by themselves.
   * @param pause its timer has the summary
   */
  async waitAfterLostAnswer(
    what: string,
    subject: string,
    pause: (ms: number, options: { summary: string }) => Promise<unknown> = sleep,
  ): Promise<void> {
    const run = this.#run;
    const { awaitService } = run;
    if (this.#lostAnswers < MOST_LOST_ANSWERS || !awaitService) {
      const summary = boundedSummary(`${what} had no effect: try again after a pause`);
      await pause(growingPauseMs(this.#lostAnswers++), { summary });
      return;
    }
    const triedAtMs = Date.now();
    const { sinceMs } = (this.#lostAttention ??= { subject, sinceMs: triedAtMs });
    const wake = (): Promise<boolean> => awaitService(WAIT_FOR_SERVICE, { triedAtMs, sinceMs }).then(() => true);
    const message = `${what} was tried ${MOST_LOST_ANSWERS} times and more, and nothing came of it. It is still tried, ever more rarely.`;
    const attention = {
      code: "unexpected-answer",
      subject,
      message,
      sinceMs,
      resolvedBy: ["retry", "cancel"],
    } as const;
    await park(run, attention, { wake, keepsAfterWake: true, until: () => run.waitsEnded });
  }

  /** To be called once the write has shown an effect, or is not tried any more. */
  clearLostAnswer(): void {
    if (this.#lostAttention) this.#run.clear(attentionKey("unexpected-answer", this.#lostAttention.subject));
  }

  /**
   * Ends by `retry`, by a cancellation, or once `awaitService` finds that the service accepts the key, or answers
   * again.
   */
  async #parkUntilServed(
    attention: NewAttention,
    until: (() => boolean) | undefined,
    { status, operation, unserved }: Refusal,
  ): Promise<Verdict> {
    const run = this.#run;
    const { awaitService } = run;
    if (!awaitService) throw new Error("a call can be refused only once it is known where calls go");
    const key = attentionKey(attention.code, attention.subject);
    const sinceMs = this.#refusal?.key === key ? this.#refusal.sinceMs : Date.now();
    run.updateMessage(key, attention);
    this.#refusal = { key, sinceMs };
    const summary = unserved ? WAIT_FOR_SERVICE : "Wait until the service accepts the key: each attempt is one look";
    const refused = unserved ? {} : { refused: { status, operation } };
    const wake = (): Promise<boolean> =>
      awaitService(summary, { triedAtMs: Date.now(), sinceMs, ...refused }).then(() => true);
    const verdict = await park(run, { ...attention, sinceMs }, { until, wake, keepsAfterWake: true });
    // Cleared by another call, which found the key accepted.
    if (verdict === "acknowledged") this.#refusal = undefined;
    return verdict;
  }
}

/** A worker that was restarted does not know since when the service is as this call has met it before, too. */
export function sinceBefore(
  trouble: ServiceTrouble | undefined,
  before: ServiceTrouble | undefined,
): ServiceTrouble | undefined {
  return trouble?.orEarlier && before?.kind === trouble.kind && before.sinceMs < trouble.sinceMs ? before : trouble;
}

function evidenceOf(refusal: Refusal): { evidence?: Record<string, unknown> } {
  const { status, apiCode, details } = refusal;
  const evidence = { ...(status && { status }), ...(apiCode && { apiCode }), ...details };
  return Object.keys(evidence).length > 0 ? { evidence } : {};
}

/**
 * What became of a try of a call that is sent at most once. If its activity has no answer, its claim says it once
 * nobody is at the call any more (docs/architecture.md, "At most once"); reading a claim that was never taken closes
 * it.
 */
export async function answerOf<Answer extends Said, Known extends Said>(
  sent: Answer | LostAnswer | CallUnderWay,
  readClaim: () => Promise<Known>,
): Promise<Answer | Known> {
  if (sent.kind !== "lost" && sent.kind !== "in-progress") return sent as Answer;
  const found = await readClaim();
  return found.kind === "unknown" ? { ...found, message: `${sent.message} ${found.message}` } : found;
}

type Said = { kind: string; message?: string };

/**
 * Numbers the tries of one call that is sent at most once: each has a claim of its own. A new generation begins only
 * once it is known that the one before was not applied.
 */
export class ClaimGenerations {
  current: ClaimedTry = { generation: 1, token: uuid4() };

  /** For a try that was put off. If it is the same one that is asked for again, its claim may be held for nobody. */
  putOff({ sameTry, execution }: DeferredTry): void {
    if (!sameTry) this.next();
    else if (execution !== undefined)
      this.current = { ...this.current, unsent: [...(this.current.unsent ?? []), execution] };
  }

  /** @param notApplied known not to have been applied; another run may have got further */
  next(notApplied = 0): void {
    this.current = { generation: Math.max(notApplied, this.current.generation) + 1, token: uuid4() };
  }
}
