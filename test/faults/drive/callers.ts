import { setTimeout as delay } from "node:timers/promises";

import { type SaleOutcome, SETTLED_STAGES } from "../../../src/contract/index.ts";
import type { SaleKey } from "../../../src/starter/index.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import { askUntilAnswered } from "./ask-until-answered.ts";

export interface CallersRecord {
  /** By workflow id: the outcome that its caller was told, once it was settled. */
  readonly outcomes: ReadonlyMap<string, SaleOutcome>;
  /** How often a state was asked for and answered. */
  readonly states: number;
}

const WAIT_SECONDS = 10;
const PAUSE_MS = 500;
/** So often that some answers fall into every moment of a sale. */
const LOOK_MS = 200;
/** Each so-manyth sale has a caller: all of them would keep the workers busy with nothing else. */
const EVERY = 3;

export interface CallersOptions {
  readonly stack: FaultStack;
  readonly signal: AbortSignal;
  /** Whether an operator ended or changed a run of it by hand: then its caller hears of that, and asks again. */
  readonly isTouched: (workflowId: string) => boolean;
}

/** A till that waits for the outcome of its sale, and a screen beside it that shows how far it is. */
export class Callers {
  readonly #stack: FaultStack;
  readonly #signal: AbortSignal;
  readonly #isTouched: CallersOptions["isTouched"];
  readonly #waiting = new Set<string>();
  readonly #outcomes = new Map<string, SaleOutcome>();
  readonly #problems: string[] = [];
  #seen = 0;
  #states = 0;

  constructor({ stack, signal, isTouched }: CallersOptions) {
    this.#stack = stack;
    this.#signal = signal;
    this.#isTouched = isTouched;
  }

  get record(): CallersRecord {
    return { outcomes: this.#outcomes, states: this.#states };
  }

  /** How many have not been told an end. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A caller who has still not been told an end is a problem too: to be asked when everything is over. */
  get problems(): string[] {
    return [...this.#problems, ...[...this.#waiting].map((workflowId) => `${workflowId}: its caller still waits`)];
  }

  /** To be called once it is started. */
  look(key: SaleKey): void {
    if (this.#seen++ % EVERY !== 0) return;
    const workflowId = this.#stack.starter.workflowId(key);
    this.#waiting.add(workflowId);
    void this.#attend(key)
      .then((outcome) => {
        this.#outcomes.set(workflowId, outcome);
        this.#waiting.delete(workflowId);
      })
      .catch((error: unknown) => {
        if (this.#signal.aborted) return;
        this.#waiting.delete(workflowId);
        this.#problems.push(`${workflowId}: its caller: ${error instanceof Error ? error.message : String(error)}`);
      });
  }

  async #attend(key: SaleKey): Promise<SaleOutcome> {
    const settled = new AbortController();
    const [outcome] = await Promise.all([
      this.#outcomeOf(key).finally(() => settled.abort()),
      this.#lookUntil(key, settled.signal),
    ]);
    return outcome;
  }

  async #outcomeOf(key: SaleKey): Promise<SaleOutcome> {
    const { starter } = this.#stack;
    for (;;) {
      const outcome = await this.#ask(key, () => starter.outcome(key, { waitSeconds: WAIT_SECONDS }));
      if (outcome && SETTLED_STAGES.includes(outcome.stage)) return outcome;
      // An operator is waited for.
      await delay(PAUSE_MS, undefined, { signal: this.#signal });
    }
  }

  async #lookUntil(key: SaleKey, settled: AbortSignal): Promise<void> {
    const { starter } = this.#stack;
    while (!settled.aborted) {
      if (await this.#ask(key, () => starter.getSale(key))) this.#states += 1;
      await delay(LOOK_MS);
    }
  }

  /** Undefined: an operator has ended it by hand, and it is not carried on yet. */
  async #ask<T>(key: SaleKey, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await askUntilAnswered(this.#stack.client, this.#signal, ask);
    } catch (error) {
      if (this.#signal.aborted || !this.#isTouched(this.#stack.starter.workflowId(key))) throw error;
      return undefined;
    }
  }
}
