import { uuid4, workflowInfo } from "@temporalio/workflow";

import type { MovementTry } from "../../src/contract/index.ts";

/**
 * Numbers the tries of one call that is sent at most once. Each try has a generation, under which its activity takes
 * the claim in the ledger. A new generation begins only once it is known that the one before was not applied.
 */
export class ClaimGenerations {
  #current: MovementTry = { generation: 1, token: tokenOfThisRun() };
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

  /** The current generation is known not to have been applied. */
  nextGeneration(): void {
    this.#previous = this.#current;
    this.#current = { generation: this.#current.generation + 1, token: tokenOfThisRun() };
  }

  /** The generations of another run, up to this one, are known not to have been applied. */
  skipPast(generation: number): void {
    this.#previous = undefined;
    this.#current = { generation: Math.max(generation, this.#current.generation) + 1, token: tokenOfThisRun() };
  }
}

/**
 * Tells this run's try from that of any other run. A random text alone would not: a run that was reset replays the
 * random values that the earlier run drew before the reset point, and may have sent a movement under.
 */
function tokenOfThisRun(): string {
  return `${workflowInfo().runId}/${uuid4()}`;
}
