import {
  type AdjustStockRequest,
  type AdjustStockResult,
  type AppliedMovement,
  type AskedMovement,
  type Branch,
  type PersonsWord,
  type ReadMovementResult,
  setApplied,
  type StockMovement,
} from "../../src/contract/index.ts";
import { BetweenTries } from "../calls/between-tries.ts";
import { ClaimGenerations } from "../calls/claim-generations.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { endOfTurn } from "../sdk/interceptors.ts";
import { parkOnBranch, showOtherBranch } from "./other-branch.ts";
import { fateOfUnknown } from "./unknown-movement.ts";

/**
 * Brings one movement to `applied` or `dropped`. It is sent at most once without an answer: an unknown outcome waits
 * for a person's word and is never repeated by itself (docs/failure-model.md, "Stock movements").
 * @param lane of the run's movements: each try goes by it
 */
export async function applyMovement(
  work: SaleContext,
  movement: StockMovement,
  lane: Lane,
  branch?: Branch,
): Promise<void> {
  const { run } = work;
  const settled = { ...work.target, referenceId: movement.referenceId };
  const givenUp = (): boolean => run.stockHalted && movement.purpose === "sold";
  const claims = new ClaimGenerations();
  const betweenTries = new BetweenTries(run);
  const begin = (): void => {
    // Still refused, as far as anybody needs to know, while the key is looked at again.
    if (!betweenTries.refusalStands) movement.state = "sending";
    movement.sentAtMs = Date.now();
  };
  for (;;) {
    const sent = await lane.send({ movement, asked: askedOf(movement, claims, branch), givenUp, begin });
    if (!sent) {
      betweenTries.clearRefusal();
      drop(work, movement);
      return;
    }
    const result =
      sent.kind === "unknown" ? await fateOfUnknown(work, movement, claims.generation, branch, sent) : sent;
    if (result.kind !== "not-applied" && result.kind !== "deferred") betweenTries.clearRefusal();
    switch (result.kind) {
      case "applied":
        settle(work, movement, result);
        // The run ends only once the outcome is in its claim.
        if (result.unsettled)
          run.beforeTheEnd(ledger.settleMovement({ ...settled, ...claims.current, outcome: result }));
        return;
      case "said-applied":
        movement.state = "applied";
        keepWord(work, movement, result.word, true);
        run.stockMoved();
        return;
      case "superseded":
        if (result.word) keepWord(work, movement, result.word, false);
        claims.skipPast(result.generation);
        break;
      case "deferred":
        movement.state = "planned";
        run.stockMoved();
        if (!result.sameTry) claims.nextGeneration();
        await betweenTries.waitAfterDeferral(result, givenUp);
        break;
      case "branch-held": {
        movement.state = "refused";
        run.stockMoved();
        const verdict = await parkOnBranch(work, movement, result, givenUp);
        if (verdict === "acknowledged") {
          drop(work, movement);
          return;
        }
        // While a changed dialect is rolled out, the worker that waits may see no hold where the one that sends still
        // does.
        if (verdict === "woken") {
          movement.state = "planned";
          run.stockMoved();
          await betweenTries.waitAfterDeferral({}, givenUp);
        }
        break;
      }
      case "not-applied": {
        movement.state = "refused";
        claims.nextGeneration();
        const { refusal } = result;
        const code = refusal.attention === "credentials" ? refusal.attention : "stock-refused";
        const message = `${movement.action} ${movement.quantity} of ${movement.itemId}: ${refusal.message}`;
        const about = { code, subject: movement.referenceId, message, until: givenUp } as const;
        const verdict = await betweenTries.parkOnRefusal(refusal, about);
        if (verdict === "acknowledged" && code === "stock-refused") {
          drop(work, movement);
          return;
        }
      }
    }
  }
}

function askedOf(movement: StockMovement, { claim }: ClaimGenerations, branch: Branch | undefined): AskedMovement {
  const { referenceId, itemId, action, quantity, unitPrice } = movement;
  return { referenceId, itemId, action, quantity, unitPrice, ...(branch && { branch }), claim };
}

function drop({ run }: SaleContext, movement: StockMovement): void {
  movement.state = "dropped";
  run.stockMoved();
}

function settle(work: SaleContext, movement: StockMovement, result: AppliedMovement): void {
  setApplied(movement, result);
  if (result.recorded) work.run.records?.keptBeside();
  const { stockIo = "ok", stockMaster = "ok" } = result.report ?? {};
  work.run.stockMoved();
  if (result.otherBranch) showOtherBranch(work, movement, result.otherBranch);
  if (stockIo === "ok" && stockMaster === "ok") return;
  movement.report = { stockIo, stockMaster };
  const message = `The movement ${result.movementId} was made, but its report says stockIo ${stockIo}, stockMaster ${stockMaster}.`;
  work.run.raise({ code: "stock-unreported", subject: movement.referenceId, message, evidence: { ...movement } });
}

/** What a person said in an earlier run is taken over; what was said in this one is there already. */
function keepWord({ run }: SaleContext, movement: StockMovement, word: PersonsWord, applied: boolean): void {
  const { note, by, atMs } = word;
  const known = run.decisions.some((one) => one.subject === movement.referenceId && one.atMs === atMs);
  movement.decision = { applied, note, ...(by !== undefined && { by }), atMs };
  if (known) return;
  const answer = applied ? "applied" : "not applied";
  run.decide({ update: "resolveStock", code: "stock-unknown", subject: movement.referenceId, answer, note, by }, atMs);
}

/**
 * So many movements of one run are with the service at once, so that a sale of a thousand lines leaves room for the
 * others.
 */
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
  readonly #work: SaleContext;
  readonly #turns = new Turns(MOST_AT_ONCE);

  constructor(work: SaleContext) {
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
  { calls, target }: Pick<SaleContext, "calls" | "target">,
  asked: AskedMovement,
  more: Pick<AdjustStockRequest, "sentFor" | "record"> = {},
): Promise<AdjustStockResult> {
  const { adjustStock } = more.record ? calls.unrepeatableWriteSoon : calls.unrepeatableWrite;
  const result = await adjustStock({ ...target, ...asked, ...more });
  return result.kind === "lost" ? await whatBecameOf(target, asked, result.message) : result;
}

/**
 * Asks the claim of a try whose answer did not come: never taken means never sent, and not to be sent by that try any
 * more; a written outcome is the answer; a claim without outcome is unknown (docs/architecture.md, "At most once").
 * @param said why there is no answer, as a sentence
 */
export async function whatBecameOf(
  target: SaleContext["target"],
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
