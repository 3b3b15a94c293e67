import { setTimeout as delay } from "node:timers/promises";

import type { FaultStack } from "../stack/fault-stack.ts";
import { freezeLedgerServer } from "../stack/ledger-server.ts";

const LOOK_MS = 50;
/** Longer than an operation of the ledger, and than an attempt of most activities, may take. */
const AWAY_MS = 20_000;

/**
 * The database stands still, and answers nobody: as behind a network that is cut, or on a disk that hangs. What it was
 * asked before that, it does once it goes on, when nobody waits for it any more.
 */
export class Outages {
  readonly #planned: number;
  #left: number;

  constructor(outages: number) {
    this.#planned = outages;
    this.#left = outages;
  }

  get left(): number {
    return this.#left;
  }

  /** @param share of the sales that have been started: the outages keep in step with them */
  async run(stack: FaultStack, share: () => number, signal: AbortSignal): Promise<void> {
    while (this.#left > 0 && !signal.aborted) {
      const inStep = 1 - this.#left / this.#planned <= share();
      const goOn = inStep ? await freezeLedgerServer(stack.home) : undefined;
      if (!goOn) {
        await delay(LOOK_MS);
        continue;
      }
      this.#left -= 1;
      await delay(AWAY_MS, undefined, { signal }).catch(() => undefined);
      goOn();
    }
  }
}
