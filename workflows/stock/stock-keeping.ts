import type { Branch, StockMovement } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { applyMovement } from "./apply-movement.ts";
import { reversalOf } from "./plan-movements.ts";

/** The movements of one run, each carried by itself beside the document: they never hold it back. */
export class StockKeeping {
  readonly #work: Work;
  readonly #branch: Branch | undefined;
  readonly #underWay = new Map<StockMovement, Promise<void>>();

  constructor(work: Work, branch?: Branch) {
    this.#work = work;
    this.#branch = branch;
  }

  move(movements: StockMovement[]): void {
    for (const movement of movements) {
      this.#work.run.movements.push(movement);
      this.#underWay.set(movement, applyMovement(this.#work, movement, this.#branch));
    }
  }

  /**
   * Gives back what this run took, and only that: each reversal follows its own movement, once that one is known to be applied.
   */
  async giveBack(number: string, purpose: "undone" | "restocked"): Promise<void> {
    const taken = [...this.#underWay].filter(([movement]) => movement.purpose === "sold");
    await Promise.all(
      taken.map(async ([movement, carried]) => {
        await carried;
        if (movement.state === "applied") this.move([reversalOf(movement, number, purpose)]);
      }),
    );
    await this.settled();
  }

  /** Every movement is applied or dropped. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }
}
