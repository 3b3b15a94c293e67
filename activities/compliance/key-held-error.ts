import type { ComplianceApiError } from "../../src/compliance/index.ts";

/** What a person wants to know of a key that is refused while nothing is sent with it. */
export interface KeyEvidence {
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
