import type {
  AdjustStockRequest,
  AdjustStockResult,
  AskedMovement,
  ReadMovementResult,
  StockMovement,
} from "../../src/contract/index.ts";
import { ledger } from "../proxies.ts";
import type { Work } from "../sale/state.ts";
import { endOfTurn } from "../sdk/end-of-turn.ts";

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

/**
 * Sends one try. Where its activity ends without an answer, the claim tells what became of it.
 * @param more whose movement it is, where this run sends it for another one; the record to keep with the answer
 */
export async function sendMovement(
  { calls, target }: Pick<Work, "calls" | "target">,
  asked: AskedMovement,
  more: Pick<AdjustStockRequest, "sentFor" | "record"> = {},
): Promise<AdjustStockResult> {
  const { adjustStock } = more.record ? calls.unrepeatableWriteSoon : calls.unrepeatableWrite;
  const result = await adjustStock({ ...target, ...asked, ...more });
  return result.kind === "lost" ? await whatBecameOf(target, asked, result.message) : result;
}

/**
 * Asks the claim of a try whose answer did not come: never taken means never sent, and not to be sent by that try any more; a written
 * outcome is the answer; a claim without outcome is unknown (architecture, decision 6).
 * @param said why there is no answer, as a sentence
 */
export async function whatBecameOf(
  target: Work["target"],
  { referenceId, claim }: AskedMovement,
  said: string,
): Promise<ReadMovementResult> {
  const found = await ledger.readMovement({ ...target, referenceId, generation: claim.generation });
  return found.kind === "unknown" ? { ...found, message: `${said} ${found.message}` } : found;
}

/** Whether the next movement would meet the same: not sent, or refused for what is no matter of its own. */
export function isTrouble(result: AdjustStockResult): boolean {
  if (result.kind === "not-applied") return result.refusal.attention === "credentials";
  return result.kind === "deferred" || result.kind === "branch-held";
}

/** Lets so many act at once. The others wait, and follow in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      // The turn goes from hand to hand: whoever asks meanwhile is behind those that wait.
      if (next) next();
      else this.#free += 1;
    }
  }
}
