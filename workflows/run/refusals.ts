import type { Refusal } from "../../src/contract/index.ts";
import { type Attended, attentionKey, type NewAttention } from "./attended.ts";
import { CancelledByPerson } from "./cancelled-by-person.ts";
import { CutShort } from "./cut-short.ts";
import { park, type Verdict } from "./park.ts";

/** What an attention says beside the refusal, and what else ends its wait. */
export interface About {
  code?: NewAttention["code"];
  subject?: string;
  message?: string;
  until?: () => boolean;
}

/**
 * The refusals of one call over its tries. A refused key wakes by itself, and its attention stands from the first refusal until the call
 * has another answer: since when a person is needed is no matter of when it was looked at last.
 */
export class Refusals {
  readonly #run: Attended;
  #stands: { key: string; sinceMs: number } | undefined;

  constructor(run: Attended) {
    this.#run = run;
  }

  /** Whether the attention of an earlier refusal stands while the call is made again. */
  get standing(): boolean {
    return this.#stands !== undefined && this.#run.needs(this.#stands.key);
  }

  /**
   * Parks until the call is worth another try.
   * @throws CancelledByPerson
   * @throws CutShort
   */
  async park(refusal: Refusal): Promise<void> {
    const run = this.#run;
    await this.parkAbout(refusal, { until: () => run.cancelDue || run.cutShort });
    if (run.cutShort || run.endsWaits()) throw new CutShort();
    if (!run.cancelDue) return;
    this.over();
    throw new CancelledByPerson(run.cancelRequested ?? "");
  }

  /** Parks until the call is worth another try, where a cancellation is answered elsewhere. */
  async parkAbout(refusal: Refusal, about: About = {}): Promise<Verdict> {
    const { code = refusal.attention, subject, message = refusal.message, until } = about;
    const attention = { code, message, ...(subject !== undefined && { subject }), ...evidenceOf(refusal) };
    const ends = { ...(until && { until }) };
    if (code === "credentials") return await this.#parkOnKey(attention, ends, refusal);
    this.over();
    // Taking note of it would not answer the call.
    const mends = code === "unexpected-answer" && { mendedBy: ["retry"] as const };
    return await park(this.#run, { ...attention, ...mends }, ends);
  }

  /** The call has another answer. */
  over(): void {
    if (this.#stands) this.#run.clear(this.#stands.key);
    this.#stands = undefined;
  }

  /** A key is mended by `retry` alone, but nobody should have to mend a key in order to cancel. */
  async #parkOnKey(
    attention: NewAttention,
    ends: { until?: () => boolean },
    { status, operation }: Refusal,
  ): Promise<Verdict> {
    const run = this.#run;
    const { awaitService } = run;
    if (!awaitService) throw new Error("a key can be refused only once it is known where calls go");
    const key = attentionKey(attention.code, attention.subject);
    const sinceMs = this.#stands?.key === key ? this.#stands.sinceMs : Date.now();
    run.retell(key, attention);
    this.#stands = { key, sinceMs };
    const refused = { ...(status !== undefined && { status }), ...(operation !== undefined && { operation }) };
    const wake = (): Promise<boolean> => awaitService({ triedAtMs: Date.now(), sinceMs, refused }).then(() => true);
    const verdict = await park(run, { ...attention, sinceMs }, { ...ends, wake, lasts: true });
    // Another call found the key to be good, which ends this trouble too.
    if (verdict === "acknowledged") this.#stands = undefined;
    return verdict;
  }
}

function evidenceOf(refusal: Refusal): { evidence?: Record<string, unknown> } {
  const { status, apiCode, details } = refusal;
  const evidence = { ...(status && { status }), ...(apiCode && { apiCode }), ...details };
  return Object.keys(evidence).length > 0 ? { evidence } : {};
}
