import type { CallTarget, SeenSale } from "../../src/contract/index.ts";
import { mainWaits } from "../proxies.ts";

/** A sale as others see it: waited for by an activity, so that it costs no history while nothing changes. */
export class WatchedSale {
  readonly #target: CallTarget;
  readonly #number: string;
  #mark: string | undefined;

  constructor({ connection, businessId }: CallTarget, number: string) {
    this.#target = { connection, businessId };
    this.#number = number;
  }

  /** What is known of it now. */
  async now(): Promise<SeenSale | null> {
    this.#mark = undefined;
    return await this.change();
  }

  /** What is known of it, once that is something else than the last time. */
  async change(): Promise<SeenSale | null> {
    const { sale, mark } = await mainWaits.seeSale(
      `Look how the sale ${this.#number} stands: each attempt is one look`,
      {
        ...this.#target,
        number: this.#number,
        unlike: this.#mark,
        sinceMs: Date.now(),
      },
    );
    this.#mark = mark;
    return sale;
  }
}
