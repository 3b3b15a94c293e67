import { condition } from "@temporalio/workflow";

import {
  ATTENTION_CODES,
  type Attention,
  type AttentionCode,
  type Decision,
  type Mend,
  MENDED_BY,
  type RetryRequest,
  type ServiceWait,
} from "../../src/contract/index.ts";

/** `sinceMs`: where it is about something that began earlier; default: now. */
export type NewAttention = Omit<Attention, "sinceMs" | "mendedBy"> & Partial<Pick<Attention, "mendedBy" | "sinceMs">>;

export function attentionKey(code: AttentionCode, subject?: string): string {
  return subject === undefined ? code : `${code} ${subject}`;
}

/** What every run has that a person may be needed for: what for, since when, and what the person said. */
export abstract class Attended {
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
  abstract get standing(): string;

  /** Set while an automatic try waits for its time: brings it forward. */
  bringForward: (() => void) | undefined;

  /** Waits, without history, until a call that the service did not take is worth another try. Set once it is known where calls go. */
  awaitService: ((wait: ServiceWait) => Promise<void>) | undefined;

  /** Whether it is to go on as a new run before it waits any longer. */
  get cutShort(): boolean {
    return false;
  }

  /** To be asked where a wait is over: whether what follows is left to a new run. Then all other waits end too. */
  endsWaits(): boolean {
    return false;
  }

  /** Why a person wants it to be given up. */
  cancelRequested: string | undefined;

  /** A cancellation that can be carried out now. */
  abstract get cancelDue(): boolean;

  /** What can mend an attention here where it does not say so itself. */
  protected mendsOf(code: AttentionCode): readonly Mend[] {
    return MENDED_BY[code];
  }

  /** For a run that keeps the history of its attentions. */
  protected attentionChanged(_change: "raised" | "cleared", _attention: Attention): void {}

  /** The most pressing first. */
  get attentions(): Attention[] {
    const rank = (attention: Attention): number => ATTENTION_CODES.indexOf(attention.code);
    return [...this.#attentions.values()].toSorted((a, b) => rank(a) - rank(b));
  }

  /** @param attention with `mendedBy` where not all that can mend its code makes sense here */
  raise(attention: NewAttention): string {
    const key = attentionKey(attention.code, attention.subject);
    if (!this.#attentions.has(key)) {
      const raised = { mendedBy: this.mendsOf(attention.code), sinceMs: Date.now(), ...attention };
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

  /**
   * Counts a retry for what it means: the named attention, else everything that waits for one. A slow authority is only a notice: where
   * something else waits, that is what a retry without a name means.
   */
  countRetry(request: RetryRequest): void {
    this.retriedAtMs = Date.now();
    if (this.meansAutomaticTry(request)) {
      this.bringForward?.();
      const { note, by } = request;
      if (note !== undefined)
        this.decisions.push({
          update: "retry",
          code: "rejected",
          note,
          ...(by !== undefined && { by }),
          atMs: Date.now(),
        });
    }
    const waiting = this.attentions.filter((one) => one.mendedBy.includes("retry"));
    const named = waiting.filter(
      (one) =>
        (request.code === undefined || one.code === request.code) &&
        (request.subject === undefined || one.subject === request.subject),
    );
    const pressing = named.filter((one) => one.code !== "authority-slow");
    for (const { code, subject } of request.code !== undefined || pressing.length === 0 ? named : pressing) {
      const key = attentionKey(code, subject);
      this.#retries.set(key, this.retriesOf(key) + 1);
      const who = { ...(subject !== undefined && { subject }), ...(request.by !== undefined && { by: request.by }) };
      if (request.note !== undefined) {
        this.decisions.push({ update: "retry", code, note: request.note, ...who, atMs: Date.now() });
      }
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
  acknowledge(request: { code: string; subject?: string; note: string; by?: string }): void {
    const { note, by } = request;
    for (const { code, subject, mendedBy } of this.attentions) {
      if (!mendedBy.includes("acknowledge")) continue;
      if (code !== request.code || (request.subject !== undefined && request.subject !== subject)) continue;
      const who = { ...(subject !== undefined && { subject }), ...(by !== undefined && { by }) };
      this.decisions.push({ update: "acknowledge", code, note, ...who, atMs: Date.now() });
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
