import type { ComplianceApiError, OperationName } from "../../src/compliance/index.ts";

/** What a person wants to know of a key that is refused while nothing is sent with it. */
interface KeyEvidence {
  notSent: true;
  /** ISO 8601, as is `nextTryAt`. */
  keyRefusedSince: string;
  nextTryAt: string;
  /** Workflows that have met this refusal since then, each once. */
  waiting: number;
}

/** A call that was not sent, since its key was refused a moment ago: the answer would be the same. */
export class KeyHeldError extends Error {
  override readonly name = "KeyHeldError" as const;
  /** The answer that the service gave last. */
  readonly refusal: ComplianceApiError;
  readonly evidence: KeyEvidence;
  /** Until the next call of this kind may go out, in milliseconds. */
  readonly heldForMs: number;

  constructor(operation: string, refusal: ComplianceApiError, evidence: KeyEvidence, heldForMs: number) {
    const { keyRefusedSince, nextTryAt, waiting } = evidence;
    super(
      `${operation} was not sent, since the key is refused: ${refusal.message}. Refused since ${keyRefusedSince}, ` +
        `tried again from ${nextTryAt} on, or on retry; ${waiting} wait.`,
      { cause: refusal },
    );
    this.refusal = refusal;
    this.evidence = evidence;
    this.heldForMs = heldForMs;
  }
}

/** The pauses of a refused key, in shares of the first: by default 30 s, 1, 2, 5 and 10 minutes. */
const RUNGS = [1, 2, 4, 10, 20] as const;

export interface KeyCall {
  operation: OperationName;
  businessId: string | undefined;
  /** Who asks. Counted once as waiting, however often it asks. */
  caller: string;
  /** When this attempt was scheduled, by the clock of the Temporal server (Unix milliseconds). */
  scheduledAtMs: number;
  /** When a person last asked the caller to try again, by the same clock. */
  retriedAtMs: number | undefined;
}

interface Refused {
  error: ComplianceApiError;
  sinceMs: number;
  /** Of the call that was refused last: a person who asked later than that has not had an answer yet. */
  scheduledAtMs: number;
  probeAtMs: number;
  probing: boolean;
  rung: number;
  waiting: Set<string>;
}

/** One call's way through the circuit. What was sent before the circuit's latest news has nothing to say about it. */
export interface Pass {
  epoch: number;
  kind: "open" | "probe" | "asked";
}

/**
 * One thing that a key may do or not. Calls pass until one is refused; then one alone passes after each pause, as the
 * probe; with the first that is accepted all pass again.
 */
export class Circuit {
  readonly #firstPauseMs: number;
  #refused: Refused | undefined;
  #epoch = 0;
  #acceptedAtMs = -Infinity;

  constructor(firstPauseMs: number) {
    this.#firstPauseMs = firstPauseMs;
  }

  get refusedSinceMs(): number | undefined {
    return this.#refused?.sinceMs;
  }

  /** When the latest call was scheduled that was accepted, by the clock of the Temporal server. */
  get acceptedAtMs(): number {
    return this.#acceptedAtMs;
  }

  /** Undefined where the call may go. A person's `retry` that is newer than the last refusal always may. */
  held(call: KeyCall, nowMs: number): KeyHeldError | undefined {
    const refused = this.#refused;
    if (!refused || askedSince(refused, call) || (!refused.probing && nowMs >= refused.probeAtMs)) return undefined;
    refused.waiting.add(call.caller);
    const evidence = {
      notSent: true,
      keyRefusedSince: new Date(refused.sinceMs).toISOString(),
      nextTryAt: new Date(Math.max(refused.probeAtMs, nowMs)).toISOString(),
      waiting: refused.waiting.size,
    } as const;
    return new KeyHeldError(call.operation, refused.error, evidence, Math.max(refused.probeAtMs - nowMs, 0));
  }

  enter(call: KeyCall): Pass {
    const refused = this.#refused;
    if (!refused) return { epoch: this.#epoch, kind: "open" };
    if (askedSince(refused, call)) return { epoch: this.#epoch, kind: "asked" };
    refused.probing = true;
    return { epoch: this.#epoch, kind: "probe" };
  }

  /** True where the key is refused from now on. */
  refuse(pass: Pass, call: KeyCall, error: ComplianceApiError, nowMs: number): boolean {
    if (pass.epoch !== this.#epoch) return false;
    this.#epoch++;
    const before = this.#refused;
    // A person who tries often must not make all others wait longer.
    const rung = before ? Math.min(before.rung + (pass.kind === "asked" ? 0 : 1), RUNGS.length - 1) : 0;
    this.#refused = {
      error,
      sinceMs: before?.sinceMs ?? nowMs,
      scheduledAtMs: call.scheduledAtMs,
      probeAtMs: nowMs + this.#firstPauseMs * (RUNGS[rung] ?? 1),
      probing: false,
      rung,
      waiting: (before?.waiting ?? new Set<string>()).add(call.caller),
    };
    return !before;
  }

  /** True where it was refused until now. */
  accept(pass: Pass, { scheduledAtMs }: Pick<KeyCall, "scheduledAtMs">): boolean {
    this.#acceptedAtMs = Math.max(this.#acceptedAtMs, scheduledAtMs);
    if (pass.epoch !== this.#epoch || !this.#refused) return false;
    this.#epoch++;
    this.#refused = undefined;
    return true;
  }

  /** The call's outcome says nothing of the key: the next one may try. */
  leave(pass: Pass): void {
    if (pass.epoch === this.#epoch && pass.kind === "probe" && this.#refused) this.#refused.probing = false;
  }
}

function askedSince(refused: Refused, { retriedAtMs }: KeyCall): boolean {
  return retriedAtMs !== undefined && retriedAtMs > refused.scheduledAtMs;
}
