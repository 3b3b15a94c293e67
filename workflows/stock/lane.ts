import type { AdjustStockResult, AskedMovement, StockMovement } from "../../src/contract/index.ts";
import type { Work } from "../document/work.ts";
import { endOfTurn } from "../run/end-of-turn.ts";
import { sendMovement } from "./send-movement.ts";
import { Turns } from "./turns.ts";

/** So many movements of one run are with the service at once, so that a sale of a thousand lines leaves room for the others. */
export const MOST_AT_ONCE = 5;

/** One try of a movement that waits for its turn. */
export interface Try {
  movement: StockMovement;
  asked: AskedMovement;
  /** Whether it is not to be sent any more. */
  givenUp: () => boolean;
  /** Shows that it is being sent. */
  begin: () => void;
}

/** How the tries of a run's movements are sent. */
export interface Lane {
  /** What the try came to; undefined where it was given up before its turn. */
  send(one: Try): Promise<AdjustStockResult | undefined>;
}

/** Each by an activity of the run itself. */
export class ByItself implements Lane {
  readonly #work: Work;
  readonly #turns = new Turns(MOST_AT_ONCE);

  constructor(work: Work) {
    this.#work = work;
  }

  send({ movement, asked, givenUp, begin }: Try): Promise<AdjustStockResult | undefined> {
    const { run } = this.#work;
    return this.#turns.take(async () => {
      // The run's record, which may go with the movement, says what comes of the same answer.
      await endOfTurn();
      if (givenUp()) return undefined;
      begin();
      run.stockMoved();
      const record = run.records?.beside(movement);
      return await sendMovement(this.#work, asked, record && { record });
    });
  }
}
