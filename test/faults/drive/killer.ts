import { setTimeout as delay } from "node:timers/promises";

import { Chance } from "../plan/chance.ts";
import type { OperationName } from "../plan/disturbances.ts";
import type { Boundary, BoundaryKill, Kill } from "../plan/kill-plan.ts";
import type { FaultStack } from "../stack/fault-stack.ts";
import { killLedgerServer } from "../stack/ledger-server.ts";

/**
 * So many of the next kills at calls are waited for at a time, so that the rare calls are not always beaten by the
 * frequent ones.
 */
const AWAITED = 4;
/** What does not come for so long makes room for the next. */
const LONGEST_WAIT_MS = 6_000;
const LOOK_MS = 50;

/** Carries out the plan of kills, one after the other and never so that no worker is left. */
export class Killer {
  readonly #left: Kill[];
  readonly #chance: Chance;
  readonly #planned: number;
  #stack: FaultStack | undefined;
  #armed: readonly BoundaryKill[] = [];
  #struck: (() => void) | undefined;
  readonly struck: Kill[] = [];

  constructor(kills: readonly Kill[], seed: number) {
    this.#left = [...kills];
    this.#planned = kills.length;
    this.#chance = new Chance(seed, "victims");
  }

  get left(): number {
    return this.#left.length;
  }

  /** Given to every gate. */
  onBoundary(seat: number, operation: OperationName, at: Boundary): "go-on" | "hold-back" {
    const kill = this.#armed.find((armed) => armed.operation === operation && armed.at === at);
    const victim = this.#stack?.workers[seat];
    if (!kill || !victim?.serving || !this.#othersServe()) return "go-on";
    victim.kill();
    this.#armed = [];
    this.#strike(kill);
    this.#struck?.();
    return kill.at === "arrived" && !kill.processed ? "hold-back" : "go-on";
  }

  /** @param share of the sales that have been started: the kills keep in step with them */
  async run(stack: FaultStack, share: () => number, signal: AbortSignal): Promise<void> {
    this.#stack = stack;
    while (this.#left.length > 0 && !signal.aborted) {
      await this.#quiet(share, signal);
      const [next] = this.#left;
      if (next?.kill === "worker-at-call") await this.#awaitCall(signal);
      else if (next) await this.#killBetweenCalls(stack, next, signal);
    }
    this.#armed = [];
  }

  async #awaitCall(signal: AbortSignal): Promise<void> {
    this.#armed = this.#left.filter((kill) => kill.kill === "worker-at-call").slice(0, AWAITED);
    const timeUp = new AbortController();
    const struck = new Promise<"struck">((resolve) => (this.#struck = () => resolve("struck")));
    const waited = delay(LONGEST_WAIT_MS, "waited", { signal: AbortSignal.any([signal, timeUp.signal]) }).catch(
      () => "waited",
    );
    const came = await Promise.race([struck, waited]);
    timeUp.abort();
    if (came === "struck") return;
    // None of them came: those behind them have their turn.
    for (const kill of this.#armed) this.#left.push(...this.#left.splice(this.#left.indexOf(kill), 1));
    this.#armed = [];
  }

  async #killBetweenCalls(
    { workers, receiver, temporal, home }: FaultStack,
    kill: Exclude<Kill, BoundaryKill>,
    signal: AbortSignal,
  ): Promise<void> {
    // At a moment of its own, and not at one that our signals make.
    await delay(kill.afterMs, undefined, { signal }).catch(() => undefined);
    if (kill.kill === "receiver") receiver.kill();
    else if (kill.kill === "ledger") await killLedgerServer(home);
    else if (kill.kill === "worker") this.#chance.pick(workers).kill();
    else {
      await temporal.killAndRestart(async () => {
        if (kill.andWorker) this.#chance.pick(workers).kill();
        await delay(kill.awayMs);
      });
    }
    this.#strike(kill);
  }

  #strike(kill: Kill): void {
    this.#left.splice(this.#left.indexOf(kill), 1);
    this.struck.push(kill);
  }

  #othersServe(): boolean {
    return (this.#stack?.workers.filter(({ serving }) => serving).length ?? 0) >= 2;
  }

  /** Until enough workers serve for the next kill to be one among others. */
  async #quiet(share: () => number, signal: AbortSignal): Promise<void> {
    const ready = (): boolean =>
      this.#othersServe() && this.#stack?.temporal.running === true && this.struck.length <= share() * this.#planned;
    while (!signal.aborted && !ready()) await delay(LOOK_MS);
  }
}
