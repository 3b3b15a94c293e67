/**
 * The stock movements of a sale and its credit notes: planned, sent at most once each, given back. The document never
 * waits for them; what is written down of each before it is sent is in `src/ledger/claims/`, which the activities ask.
 *
 * Stands on: `src/contract`, `workflows`, `workflows/calls`, `workflows/operator`, `workflows/sale` (types),
 * `workflows/sdk`.
 */
import {
  type Branch,
  fewOf,
  goodsOf,
  type KnownItem,
  type KnownMovement,
  type MovementPurpose,
  type Refund,
  type ResolvedLine,
  reversalReferenceId,
  type SaleDocument,
  type StockMovement,
  stockReferenceId,
  sumOf,
  TAKEN_A_PAGE,
  type TakenMovement,
  weightedPrice,
  worthOf,
} from "../../src/contract/index.ts";
import { callOrGiveUp, callWithEscalation } from "../calls/between-tries.ts";
import { park } from "../operator/attention-list.ts";
import { ledger } from "../proxies.ts";
import type { SaleContext } from "../sale/state.ts";
import { adoptDecision, applyMovement, markApplied, resolveUnknownMovement, Semaphore } from "./apply-movement.ts";

/** A sale of many items leaves room for other sales. */
const MOST_AT_ONCE = 5;

/**
 * One for each stock-tracked item, at the quantity-weighted price of its lines. If no price makes the movement worth
 * exactly what the lines are, there is one for each price.
 */
export function planMovements(
  number: string,
  purpose: MovementPurpose,
  lines: readonly ResolvedLine[],
  items: readonly KnownItem[],
): StockMovement[] {
  const tracked = new Set(items.filter((item) => item.stockTracked).map((item) => item.id));
  const linesByItem = groupedBy(
    lines.filter(({ itemId }) => tracked.has(itemId)),
    ({ itemId }) => itemId,
  );
  return linesByItem.flatMap((itemLines) => {
    const together = addedUp(itemLines);
    if (worthOf([together]) === worthOf(itemLines)) return planned(number, purpose, together);
    const parts = groupedBy(itemLines, ({ unitPrice }) => unitPrice);
    return parts.map((part, i) => planned(number, purpose, addedUp(part), i + 1));
  });
}

/** In the order in which each group begins. */
function groupedBy(lines: readonly ResolvedLine[], keyOf: (line: ResolvedLine) => string | number) {
  const groups = new Map<string | number, [ResolvedLine, ...ResolvedLine[]]>();
  for (const line of lines) {
    const group = groups.get(keyOf(line));
    if (group) group.push(line);
    else groups.set(keyOf(line), [line]);
  }
  return [...groups.values()];
}

function addedUp(lines: readonly [ResolvedLine, ...ResolvedLine[]]): ResolvedLine {
  const quantity = sumOf(lines.map((line) => line.quantity));
  return { itemId: lines[0].itemId, quantity, unitPrice: weightedPrice(lines) };
}

function planned(
  number: string,
  purpose: MovementPurpose,
  { itemId, quantity, unitPrice }: ResolvedLine,
  part?: number,
): StockMovement {
  const action = purpose === "sold" ? "DEDUCT" : "ADD";
  const referenceId = stockReferenceId(number, itemId, purpose, part);
  return { referenceId, purpose, action, itemId, quantity, unitPrice, state: "planned" };
}

/** Goods that go back to stock. */
interface Return {
  purpose: "undone" | "restocked";
  /** Of the document that gives them back. */
  number: string;
  /** The number of the sale that took them. */
  soldAs: string;
}

export function reversalOf(movement: StockMovement, { purpose, number, soldAs }: Return): StockMovement {
  const { referenceId: undoes, itemId, branchId } = movement;
  const referenceId = reversalReferenceId(undoes, { soldAs, itemId, number, purpose });
  return { ...planned(number, purpose, movement), referenceId, undoes, ...(branchId !== undefined && { branchId }) };
}

/** The stock movements of one run. They go on in parallel with the document, and never hold it back. */
export class StockKeeping {
  readonly #context: SaleContext;
  readonly #permits = new Semaphore(MOST_AT_ONCE);
  readonly #applying = new Map<StockMovement, Promise<void>>();
  /** Branches that goods go back to: each is looked up once, however many goods there are. */
  readonly #returns = new Map<string, Promise<Branch | undefined>>();
  /** What the sale takes, sent or not. */
  planned: readonly StockMovement[] = [];

  constructor(context: SaleContext) {
    this.#context = context;
  }

  /** @param branch default: the run's own */
  move(movements: StockMovement[], branch: Branch | undefined = this.#context.branch): void {
    const { run } = this.#context;
    for (const movement of movements) {
      if (branch) movement.branchId = branch.id;
      run.movements.push(movement);
      this.#applying.set(movement, applyMovement(this.#context, movement, this.#permits, branch));
    }
  }

  /** Of a signed sale: shows what the ledger knows to be given back, now and whenever it says so. */
  watchGivenBack(): void {
    const { run } = this.#context;
    run.onGivenBack = () => run.beforeTheEnd(this.settled().then(() => this.#showGivenBack()));
    if (run.isGivenBack) run.onGivenBack();
  }

  /**
   * Another run had given the sale up and its goods back. Nothing is taken a second time by itself, since only a person
   * knows whether the goods have left the shop.
   */
  async #showGivenBack(): Promise<void> {
    const { document, movements } = this.#context.run;
    if (!document) return;
    const givenBack = new Set((await this.#taken(document)).flatMap((one) => (one.givenBack ? [one.referenceId] : [])));
    const isShown = ({ referenceId }: StockMovement): boolean => movements.some(({ undoes }) => undoes === referenceId);
    const toShow = movements.filter(
      (one) => givenBack.has(one.referenceId) && one.state === "applied" && !isShown(one),
    );
    await Promise.all(toShow.map((movement) => this.#showUndone(movement, document)));
  }

  async #showUndone(movement: StockMovement, sale: SaleDocument): Promise<void> {
    const { run, target } = this.#context;
    const { traderInvoiceNumber: number } = sale;
    const undone = reversalOf(movement, { purpose: "undone", number, soldAs: number });
    run.movements.push(undone);
    const asked = { ...target, referenceId: undone.referenceId, generation: 1 };
    await this.#settleByClaim(undone, await ledger.readMovement("Read what became of the goods' return", asked));
    if (undone.state !== "applied") return;
    const message = `The goods were given back to stock when the sale was cancelled, and its document ${sale.id} is ${sale.status}. Where they have left the shop, take ${movement.quantity} of ${movement.itemId} from stock by hand, then acknowledge.`;
    const { referenceId: subject } = movement;
    await park(run, { code: "stock-refused", subject, message, resolvedBy: ["acknowledge"] });
  }

  /**
   * Gives back what a sale that is given up has taken, in any run. What was undone before is shown, and not sent again:
   * its claim has the same reference.
   */
  async undo(number: string): Promise<void> {
    const { document, movements } = this.#context.run;
    // If this run has sent nothing, an attempt of an earlier one may still come.
    const close = movements.length === 0 ? this.planned.map(({ referenceId }) => referenceId) : undefined;
    const back = { purpose: "undone", number, soldAs: number } as const;
    if (document) await this.returnTaken(back, document, close);
    else await this.#giveBack(back, () => true);
  }

  /** Gives back what this run took, each once it is known to be applied, to the branch from which it was taken. */
  async #giveBack(back: Return, isDue: (movement: StockMovement) => boolean): Promise<void> {
    await Promise.all(
      this.#sold.map(async ([movement, applied]) => {
        await applied;
        const isUndone = this.#context.run.movements.some(
          ({ undoes, state }) => undoes === movement.referenceId && state !== "dropped",
        );
        if (movement.state === "applied" && !isUndone && isDue(movement)) await this.#reverse(movement, back);
      }),
    );
    await this.settled();
  }

  /**
   * What the sale has taken, in any run; what is not known to have been taken once an operator has decided that it was.
   * @returns false if the sale has taken nothing
   */
  async returnTaken(back: Return, original: SaleDocument, close?: string[]): Promise<boolean> {
    const own = this.#sold.map(([movement]) => movement).filter(({ state }) => state !== "dropped");
    const taken = await this.#taken(original, close);
    const givenBack = new Set(taken.flatMap((one) => (one.givenBack ? [one.referenceId] : [])));
    const isDue = ({ referenceId }: Pick<StockMovement, "referenceId">): boolean =>
      back.purpose === "undone" || !givenBack.has(referenceId);
    const ofOthers = ({ referenceId }: TakenMovement): boolean => !own.some((one) => one.referenceId === referenceId);
    const others = taken.filter((one) => ofOthers(one) && isDue(one));
    await Promise.all([this.#giveBack(back, isDue), ...others.map((other) => this.#returnOther(other, back))]);
    await this.settled();
    return others.length > 0 || own.some((movement) => movement.state === "applied" && isDue(movement));
  }

  /** @param close movements that are not to be sent any more */
  async #taken(sale: SaleDocument, close?: string[]): Promise<TakenMovement[]> {
    const { traderInvoiceNumber: number, id: saleId } = sale;
    const asked = { ...this.#context.target, number, saleId };
    const taken: TakenMovement[] = [];
    let page: TakenMovement[] | undefined;
    do {
      const request = { ...asked, after: taken.at(-1)?.referenceId, ...(!page && { close }) };
      page = await ledger.readTaken("Read from the ledger what the sale took from stock", request);
      taken.push(...page);
    } while (page.length === TAKEN_A_PAGE);
    return taken;
  }

  /** Every movement is applied or dropped. */
  async settled(): Promise<void> {
    await Promise.all(this.#applying.values());
  }

  get #sold(): [StockMovement, Promise<void>][] {
    return [...this.#applying].filter(([movement]) => movement.purpose === "sold");
  }

  async #reverse(movement: StockMovement, back: Return): Promise<void> {
    const branch = await this.#branchOf(movement);
    if (branch !== "given-up") this.move([reversalOf(movement, back)], branch);
  }

  async #returnOther({ unknown, ...taken }: TakenMovement, back: Return): Promise<void> {
    const movement: StockMovement = { ...taken, purpose: "sold", action: "DEDUCT", state: "applied" };
    // A sale that is given up shows all that it took, with what the claims say of it, also what an earlier run sent; one
    // that is refunded only what an operator must resolve first.
    if (unknown || back.purpose === "undone") {
      const { run, target } = this.#context;
      if (unknown) movement.sentAtMs = unknown.sentAtMs;
      // So that `resolveStock` finds it.
      run.movements.push(movement);
      const asked = { ...target, referenceId: movement.referenceId, generation: unknown?.generation ?? 1 };
      const known = await ledger.readMovement("Read from its claim what became of the movement", asked);
      await this.#settleByClaim(movement, known);
    }
    if (movement.state === "applied") await this.#reverse(movement, back);
  }

  /** Sent by another run, and not again by this one: it was made, or it is dropped, or an operator says so. */
  async #settleByClaim(movement: StockMovement, known: KnownMovement): Promise<void> {
    const resolution =
      known.kind === "unknown"
        ? await resolveUnknownMovement(this.#context, movement, { generation: 1, ...known })
        : known;
    if (resolution.kind === "applied") {
      markApplied(this.#context, movement, resolution);
      return;
    }
    if (resolution.decision) adoptDecision(this.#context, movement, resolution.decision);
    this.#context.run.moved(movement, resolution.kind === "decided-applied" ? "applied" : "dropped");
  }

  /** With both of its names, either of which a dialect may want. */
  async #branchOf({ branchId, referenceId }: StockMovement): Promise<Branch | undefined | "given-up"> {
    const { branch } = this.#context;
    if (branchId === undefined || branchId === branch?.id) return branch;
    const found = this.#returns.get(branchId) ?? branchToReturnTo(this.#context, branchId, referenceId);
    this.#returns.set(branchId, found);
    return (await found) ?? "given-up";
  }
}

/**
 * One that is not to be found waits for an operator without holding back the document.
 * @returns undefined if an operator gave it up
 */
async function branchToReturnTo(
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

/**
 * What goes back is what was taken, where it was taken; without that, only what an operator decides to return, who
 * names the branch.
 */
export async function returnGoods(
  context: SaleContext,
  stock: StockKeeping,
  refund: Refund,
  original: SaleDocument,
): Promise<void> {
  const { traderInvoiceNumber: number, branch } = refund;
  const back = { purpose: "restocked", number, soldAs: original.traderInvoiceNumber } as const;
  if (await stock.returnTaken(back, original)) return;
  if (branch !== undefined) return await returnByDecision(context, stock, { ...refund, branch }, original);
  const message =
    "Nothing was restocked: this sale is not known to have taken anything from stock. Correct the stock by hand where goods came back.";
  await park(context.run, { code: "stock-refused", subject: number, message, resolvedBy: ["acknowledge"] });
}

/**
 * An operator vouches for the goods. An item that has left the catalogue waits for an operator, and holds nothing else
 * back.
 */
async function returnByDecision(
  context: SaleContext,
  stock: StockKeeping,
  { traderInvoiceNumber: number, reason, branch: name }: Refund & { branch: string },
  original: SaleDocument,
): Promise<void> {
  const { run, calls, target } = context;
  const branch = await branchToReturnTo(context, name, number);
  if (!branch) return;
  const answer = `restock everything to branch ${name}`;
  run.decide({ update: "refund", answer, note: `refund ${number}, reason ${reason}` });
  let left = goodsOf(original);
  while (left.length > 0) {
    const lines = left;
    const read = await callWithEscalation(run, () =>
      calls.read.readItems("Find the items to return in the catalogue", { ...target, lines }),
    );
    const unknown = read.kind === "unknown" ? read.unknown : [];
    const missing = new Set(unknown.map(({ line }) => line));
    const known = lines.filter((_, line) => !missing.has(line));
    stock.move(planMovements(number, "restocked", known, read.items), branch);
    left = lines.filter((_, line) => missing.has(line));
    if (left.length === 0) break;
    const message = `Not returned to stock: ${fewOf(unknown.map((one) => one.reason)).join("; ")}`;
    if ((await park(run, { code: "stock-refused", subject: number, message })) === "acknowledged") break;
  }
  await stock.settled();
}
