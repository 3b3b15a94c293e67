import { setTimeout as delay } from "node:timers/promises";

import { createCallbackToken } from "../../../src/callbacks/index.ts";
import { Chance } from "../plan/chance.ts";
import { CALLBACK_FAULTS, chanceFaults, rateLimitStorm } from "../plan/disturbances.ts";
import type { FaultStack } from "../stack/fault-stack.ts";

export interface RandomFaultsRecord {
  /** What the receiver answered to tokens that it has not made; null where it was dead. */
  readonly forged: (number | null)[];
  early: number;
  doubled: number;
  storms: number;
  keysRefused: number;
}

const PAUSE_MS = 700;
const FAULT_PROBABILITY = 0.005;
const STORM_CALLS = 25;
const KEY_AWAY_MS = 2_500;

/**
 * Whatever goes wrong around the product by itself: faults by chance, storms of 429, a key that is refused for a while,
 * bad callbacks.
 */
export class RandomFaults {
  readonly record: RandomFaultsRecord = { forged: [], early: 0, doubled: 0, storms: 0, keysRefused: 0 };
  readonly #stack: FaultStack;
  readonly #chance: Chance;

  constructor(stack: FaultStack, seed: number) {
    this.#stack = stack;
    this.#chance = new Chance(seed, "mischief");
  }

  async run(signal: AbortSignal): Promise<void> {
    const { simulator } = this.#stack;
    // Each kind of trouble with callbacks at least once, and then by chance: a small run has few callbacks.
    for (const { probability: _, ...fault } of CALLBACK_FAULTS) simulator.inject({ ...fault, times: 1 });
    for (const fault of [...chanceFaults(FAULT_PROBABILITY), ...CALLBACK_FAULTS]) simulator.inject(fault);
    for (let round = 1; !signal.aborted; round += 1) {
      await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      await this.#badCallbacks();
      // While the database is away few calls are made: the storms would pile up, and last for the rest of the run.
      const refused = simulator.books().faults.byKind["rate-limit"] ?? 0;
      if (round % 15 === 5 && refused >= this.record.storms * STORM_CALLS) {
        simulator.inject(rateLimitStorm(STORM_CALLS));
        this.record.storms += 1;
      }
      if (round % 20 === 8) await this.#lateCallbacks(signal);
      if (round % 60 === 25) await this.#refuseKey(signal);
    }
    simulator.clearFaults();
  }

  async #badCallbacks(): Promise<void> {
    const documents = this.#stack.simulator.documents();
    if (documents.length === 0) return;
    const { simulator, starter } = this.#stack;
    const { traderInvoiceNumber: invoice, businessId } = this.#chance.pick(documents);
    const token = createCallbackToken({ workflowId: starter.workflowId({ invoice, businessId }) }, "not the secret");
    this.record.forged.push(await this.#post(`${this.#stack.receiverUrl}/callbacks/${token}`, "sale.completed"));
    const inFlight = documents.filter(({ status }) => status !== "completed" && status !== "failed");
    const [early] = this.#chance.shuffled(inFlight);
    if (early?.callback && (await this.#post(early.callback.url, "sale.completed")) === 202) this.record.early += 1;
    // Looked at anew: one that was submitted again meanwhile has no event yet. One that went out early told of none.
    const delivered = simulator
      .documents()
      .filter(({ callback }) => callback?.status === "delivered" && callback.event !== null);
    const [again] = this.#chance.shuffled(delivered);
    if (again) {
      simulator.redeliver(again.id);
      this.record.doubled += 1;
    }
  }

  async #lateCallbacks(signal: AbortSignal): Promise<void> {
    this.#stack.simulator.pauseCallbacks();
    await delay(2 * PAUSE_MS, undefined, { signal }).catch(() => undefined);
    this.#stack.simulator.resumeCallbacks();
  }

  async #refuseKey(signal: AbortSignal): Promise<void> {
    const { simulator, secrets } = this.#stack;
    simulator.setKey(secrets.keys.organisation, { revoked: true });
    this.record.keysRefused += 1;
    await delay(KEY_AWAY_MS, undefined, { signal }).catch(() => undefined);
    simulator.setKey(secrets.keys.organisation, { revoked: false });
  }

  async #post(url: string, event: string): Promise<number | null> {
    try {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ event, saleId: "sale_lie" }) });
      return answer.status;
    } catch {
      return null;
    }
  }
}
