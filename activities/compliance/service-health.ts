import type { ServiceTrouble } from "../../src/contract/index.ts";
import { AnswerError, TransportError } from "../../src/http/errors.ts";

/**
 * Whether the API serves the calls of one application, as this process has seen it: what a failing activity says of the
 * service, and since when. Any answer that is neither a 5xx nor a 429 shows that it does.
 */
export class ServiceHealth {
  readonly #nowMs: () => number;
  #answered = false;
  #trouble: ServiceTrouble | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get trouble(): ServiceTrouble | undefined {
    return this.#trouble;
  }

  served(): void {
    this.#answered = true;
    this.#trouble = undefined;
  }

  failed(error: unknown): void {
    const seen = seenIn(error);
    if (seen === "served") this.served();
    if (seen === "served" || seen === undefined || this.#trouble?.kind === seen) return;
    this.#trouble = { kind: seen, sinceMs: this.#nowMs(), ...(!this.#answered && { orEarlier: true }) };
    if (seen === "rate-limited") this.#answered = true;
  }
}

/** Undefined where the error says nothing of the service: nothing was sent, or the caller gave up. */
function seenIn(error: unknown): "served" | "away" | "rate-limited" | undefined {
  const status = statusOf(error);
  if (status === 429) return "rate-limited";
  if (status !== undefined) return status >= 500 || status === 408 ? "away" : "served";
  const isLost = error instanceof TransportError && error.code !== "held-back" && error.code !== "aborted";
  return isLost ? "away" : undefined;
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof AnswerError) return error.status;
  return error instanceof TransportError ? error.answered?.status : undefined;
}
