import { uuid4, workflowInfo } from "@temporalio/workflow";

import type { MovementTry } from "../../src/contract/index.ts";

/**
 * Counts the tries of one call that is not to be repeated. Each has a claim of its own in the ledger; the next one is begun only once the last is
 * known not to have been applied.
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
 * A token of this run alone. A run that was reset replays what was drawn before its point: a random text alone would be the one under which the
 * run of before may have sent.
 */
function ownToken(): string {
  return `${workflowInfo().runId}/${uuid4()}`;
}
