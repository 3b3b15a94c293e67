import {
  type Branch,
  goodsOf,
  type KnownItem,
  type MovementPurpose,
  type ResolvedLine,
  type SaleDocument,
  type StockMovement,
  stockReferenceId,
  sumOf,
  TAKEN_A_PAGE,
  type TakenMovement,
  weightedPrice,
} from "../../src/contract/index.ts";
import { callOrGiveUp } from "../calls/between-tries.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { applyMovement, markApplied, Semaphore } from "./apply-movement.ts";
import { adoptDecision, resolveUnknownMovement } from "./unknown-movement.ts";

/** How many movements of one run are sent at once, so that a sale of many items leaves room for other sales. */
const MOST_AT_ONCE = 5;

/** One movement for each stock-tracked item: lines of one item are added up, at their quantity-weighted price. */
export function planMovements(
  number: string,
  purpose: MovementPurpose,
  lines: readonly ResolvedLine[],
  items: readonly KnownItem[],
): StockMovement[] {
  const tracked = new Set(items.filter((item) => item.stockTracked).map((item) => item.id));
  const linesByItem = new Map<string, ResolvedLine[]>();
  for (const line of lines) {
    if (!tracked.has(line.itemId)) continue;
    linesByItem.set(line.itemId, [...(linesByItem.get(line.itemId) ?? []), line]);
  }
  return [...linesByItem].map(([itemId, itemLines]) =>
    planned(number, purpose, itemId, sumOf(itemLines.map((line) => line.quantity)), weightedPrice(itemLines)),
  );
}

function planned(
  number: string,
  purpose: MovementPurpose,
  itemId: string,
  quantity: number,
  unitPrice: number,
): StockMovement {
  const action = purpose === "sold" ? "DEDUCT" : "ADD";
  const referenceId = stockReferenceId(number, itemId, purpose);
  return { referenceId, purpose, action, itemId, quantity, unitPrice, state: "planned" };
}

/** The movement that gives another one's goods back. */
export function reversalOf(movement: StockMovement, number: string, purpose: "undone" | "restocked"): StockMovement {
  const { referenceId: undoes, itemId, quantity, unitPrice, branchId } = movement;
  const branch = branchId === undefined ? {} : { branchId };
  return { ...planned(number, purpose, itemId, quantity, unitPrice), undoes, ...branch };
}

/** The stock movements of one run. They go on in parallel with the document, and never hold it back. */
export class StockKeeping {
  readonly #context: SaleContext;
  readonly #permits = new Semaphore(MOST_AT_ONCE);
  readonly #applying = new Map<StockMovement, Promise<void>>();
  /** Branches that goods go back to: each is looked up once, however many goods there are. */
  readonly #returns = new Map<string, Promise<Branch | undefined>>();

  constructor(context: SaleContext) {
    this.#context = context;
  }

  /** @param branch default: the run's own; undefined for the business's first branch */
  move(movements: StockMovement[], branch: Branch | undefined = this.#context.branch): void {
    const { run } = this.#context;
    for (const movement of movements) {
      if (branch) movement.branchId = branch.id;
      run.movements.push(movement);
      this.#applying.set(movement, applyMovement(this.#context, movement, this.#permits, branch));
    }
  }

  /**
   * Gives back what this run took, and only that: each reversal follows its own movement, once that one is known to be
   * applied, and goes to the branch from which the goods were taken.
   */
  async giveBack(
    number: string,
    purpose: "undone" | "restocked",
    isDue: (movement: StockMovement) => boolean = () => true,
  ): Promise<void> {
    await Promise.all(
      this.#sold.map(async ([movement, applied]) => {
        await applied;
        if (movement.state === "applied" && isDue(movement)) await this.#reverse(movement, number, purpose);
      }),
    );
    await this.settled();
  }

  /**
   * Returns to stock what the sale is known to have taken, in this run or in any other one; what is not known to have
   * been taken is returned once an operator has decided that it was.
   * @param number of the credit note
   * @returns false where the sale has taken nothing
   */
  async returnTaken(number: string, original: SaleDocument): Promise<boolean> {
    const { target } = this.#context;
    const own = this.#sold.map(([movement]) => movement).filter(({ state }) => state !== "dropped");
    const itemIds = [...new Set(goodsOf(original).map(({ itemId }) => itemId))];
    const sale = { number: original.traderInvoiceNumber, saleId: original.id };
    const taken: TakenMovement[] = [];
    let page: TakenMovement[];
    do {
      const request = { ...target, ...sale, itemIds, after: taken.at(-1)?.referenceId };
      page = await ledger.readTaken("Read from the ledger what the sale took from stock", request);
      taken.push(...page);
    } while (page.length === TAKEN_A_PAGE);
    const givenBack = new Set(taken.flatMap((one) => (one.givenBack ? [one.referenceId] : [])));
    const isDue = ({ referenceId }: Pick<StockMovement, "referenceId">): boolean => !givenBack.has(referenceId);
    const ofOthers = ({ referenceId }: TakenMovement): boolean => !own.some((one) => one.referenceId === referenceId);
    const others = taken.filter((one) => ofOthers(one) && isDue(one));
    await Promise.all([
      this.giveBack(number, "restocked", isDue),
      ...others.map((other) => this.#returnOther(other, number)),
    ]);
    await this.settled();
    return others.length > 0 || own.some((movement) => movement.state === "applied" && isDue(movement));
  }

  /** Every movement is applied or dropped. */
  async settled(): Promise<void> {
    await Promise.all(this.#applying.values());
  }

  get #sold(): [StockMovement, Promise<void>][] {
    return [...this.#applying].filter(([movement]) => movement.purpose === "sold");
  }

  async #reverse(movement: StockMovement, number: string, purpose: "undone" | "restocked"): Promise<void> {
    const branch = await this.#branchOf(movement);
    if (branch !== "given-up") this.move([reversalOf(movement, number, purpose)], branch);
  }

  async #returnOther({ unknown, ...taken }: TakenMovement, number: string): Promise<void> {
    const movement: StockMovement = { ...taken, purpose: "sold", action: "DEDUCT", state: "applied" };
    if (unknown) {
      movement.sentAtMs = unknown.sentAtMs;
      // So that `resolveStock` finds it.
      this.#context.run.movements.push(movement);
      const branch = movement.branchId === undefined ? undefined : { id: movement.branchId };
      const resolution = await resolveUnknownMovement(this.#context, movement, branch, unknown);
      if (resolution.kind === "applied") markApplied(this.#context, movement, resolution);
      else {
        const applied = resolution.kind === "said-applied";
        if (resolution.word) adoptDecision(this.#context, movement, resolution.word, applied);
        this.#context.run.moved(movement, applied ? "applied" : "dropped");
      }
    }
    if (movement.state === "applied") await this.#reverse(movement, number, "restocked");
  }

  /**
   * The branch with both of its names: which of them an answer has, and which a request wants, is for the dialect to
   * say.
   */
  async #branchOf({ branchId, referenceId }: StockMovement): Promise<Branch | undefined | "given-up"> {
    const { branch } = this.#context;
    if (branchId === undefined || branchId === branch?.id) return branch;
    const found = this.#returns.get(branchId) ?? branchToReturnTo(this.#context, branchId, referenceId);
    this.#returns.set(branchId, found);
    return (await found) ?? "given-up";
  }
}

/**
 * The branch to which goods are returned, by either of its names. One that is not to be found is a matter of the stock:
 * it waits for an operator without holding back the document, and an operator can give the return up.
 * @param subject what the attention is about
 * @returns undefined where an operator gave it up
 */
export async function branchToReturnTo(
  { run, calls, target }: SaleContext,
  name: string,
  subject: string,
): Promise<Branch | undefined> {
  const found = await callOrGiveUp(
    run,
    () => calls.read.readBranch(`Find the branch ${name}`, { ...target, branch: name }),
    ({ message }) => ({ code: "stock-refused", subject, message: `Not returned to stock: ${message}` }),
  );
  return found?.branch;
}
