import { setTimeout as delay } from "node:timers/promises";

import { Chance } from "../plan/chance.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import type { KeptProcess } from "../stack/kept-process.ts";
import { START_TO_CLOSE_MS } from "../stack/timings.ts";

const LOOK_MS = 50;
/** What stands still at a moment of its own, and not at the beginning of a call, after so long without one. */
const LONGEST_WAIT_MS = 3_000;
/** At the same time: two others serve, of which one may be killed. */
const AT_ONCE = 2;

/**
 * Workers that stand still for longer than an attempt may take, and wake again: as a paused virtual machine or a frozen
 * container. Half of them as they open a connection for a call: between a claim and its first byte.
 */
export class Freezer {
  readonly #planned: number;
  readonly #chance: Chance;
  #left: number;
  #frozen = 0;
  #armed: ((seat: number) => void) | undefined;

  constructor(freezes: number, seed: number) {
    this.#planned = freezes;
    this.#left = freezes;
    this.#chance = new Chance(seed, "freezes");
  }

  get left(): number {
    return this.#left;
  }

  get frozen(): number {
    return this.#frozen;
  }

  /** Given to every gate. */
  onConnection(seat: number): void {
    this.#armed?.(seat);
  }

  /** @param share of the sales that have been started: the freezes keep in step with them */
  async run(stack: FaultStack, share: () => number, signal: AbortSignal): Promise<void> {
    const thawed = new Set<Promise<void>>();
    while (this.#left > 0 && !signal.aborted) {
      const inStep = 1 - this.#left / this.#planned <= share();
      if (!inStep || thawed.size >= AT_ONCE || !this.#othersServe(stack)) {
        await delay(LOOK_MS);
        continue;
      }
      const victim = await this.#victim(stack, signal);
      if (!victim || !this.#othersServe(stack) || !victim.serving) continue;
      this.#left -= 1;
      this.#frozen += 1;
      const thaw = victim
        .freeze(START_TO_CLOSE_MS + this.#chance.whole(500, 3_000), signal)
        .finally(() => thawed.delete(thaw));
      thawed.add(thaw);
    }
    await Promise.all(thawed);
  }

  async #victim({ workers }: FaultStack, signal: AbortSignal): Promise<KeptProcess | undefined> {
    if (this.#chance.happens(0.5)) return this.#chance.pick(workers);
    const waited = new AbortController();
    const connected = new Promise<KeptProcess | undefined>((resolve) => {
      this.#armed = (seat) => resolve(workers[seat]);
    });
    const timeUp = delay(LONGEST_WAIT_MS, undefined, { signal: AbortSignal.any([signal, waited.signal]) }).catch(
      () => undefined,
    );
    const victim = await Promise.race([connected, timeUp]);
    this.#armed = undefined;
    waited.abort();
    return victim;
  }

  #othersServe({ workers, temporal }: FaultStack): boolean {
    return temporal.running && workers.filter(({ serving }) => serving).length > 2;
  }
}
