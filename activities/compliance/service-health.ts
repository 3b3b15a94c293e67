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
    // The budget keeps calls back for what an answer has shown, too.
    if (seen === "held-back" && this.#trouble) return;
    const orEarlier = seen === "away" && !this.#answered && ({ orEarlier: true } as const);
    this.#trouble = { kind: seen, sinceMs: this.#nowMs(), ...orEarlier };
    if (seen === "rate-limited") this.#answered = true;
  }
}

/** Undefined where the error says nothing of the service: the key is held, or the caller gave up. */
function seenIn(error: unknown): "served" | "away" | "rate-limited" | "held-back" | undefined {
  const status = statusOf(error);
  if (status === 429) return "rate-limited";
  if (status !== undefined) return status >= 500 || status === 408 ? "away" : "served";
  if (!(error instanceof TransportError) || error.code === "aborted") return undefined;
  return error.code === "held-back" ? "held-back" : "away";
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof AnswerError) return error.status;
  return error instanceof TransportError ? error.answered?.status : undefined;
}
