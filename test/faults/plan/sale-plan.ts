import { stockReferenceId } from "../../../src/contract/index.ts";
import type { AuthorityStep, Fault, NewItem } from "../../../src/dev/simulator/index.ts";
import { Chance } from "./chance.ts";
import { DISTURBANCES, type OperationName } from "./disturbances.ts";
import type { PlannedRefund, PlannedSale } from "./planned-sale.ts";
import { type Shape, SHAPES } from "./shapes.ts";
import { CONNECTIONS, type Goods, goodsOf, itemOf, secondBranchOf } from "./world.ts";

/** What each sale says of its customer, beside the number: nowhere else does a run have these. */
export const CUSTOMER_WORDS = ["Wanjiku Kamau, customer", "P051234567X", "+254700987654"] as const;

export interface SalePlanOptions {
  readonly seed: number;
  /** False: nothing happens to the calls of single sales. */
  readonly faults: boolean;
  /** From this sale on none is left in flight for ever, which takes a minute before an operator is told. */
  readonly lastForEver: number;
  /** Other shapes than all. */
  readonly shapes?: readonly Shape[];
}

/** The sales of a seed, one after the other and without an end. */
export class SalePlan {
  readonly #options: SalePlanOptions;
  readonly #chance: Chance;
  /** A round in which every shape comes as often as it weighs; then the next. */
  #round: Shape[] = [];
  readonly #disturbed = new Map<OperationName, number>();
  #count = 0;

  constructor(options: SalePlanOptions) {
    this.#options = options;
    this.#chance = new Chance(options.seed, "sales");
  }

  next(): PlannedSale {
    const shape = this.#nextShape();
    this.#count += 1;
    const number = `S${this.#options.seed}-${String(this.#count).padStart(4, "0")}`;
    const chance = this.#chance;
    const connection = CONNECTIONS.find(({ name }) => name === (shape.connection ?? "default"));
    const businessId = chance.pick(connection?.businesses ?? []);
    const { lines, ownItems } = this.#linesOf(shape, number, businessId);
    const branch = chance.happens(0.4) ? secondBranchOf(businessId) : undefined;
    const takes = new Map<string, number>();
    for (const { goods, quantity } of lines)
      if (goods.stockTracked) takes.set(goods.id, (takes.get(goods.id) ?? 0) + quantity);
    const refund = shape.refund && refundOf(shape.refund, number, chance);
    return {
      number,
      shape: shape.name,
      connection: shape.connection ?? "default",
      businessId,
      input: {
        connection: shape.connection ?? "default",
        businessId,
        traderInvoiceNumber: number,
        lines: lines.map(({ goods, quantity }) => ({ itemId: goods.id, quantity, unitPrice: goods.unitPrice })),
        callback: shape.callback,
        ...(branch !== undefined && { branch }),
        ...(shape.stock && { stock: shape.stock }),
        refundWindow: refund && refund.when !== "after-its-window" ? "2 hours" : "0",
        customer: { name: `${CUSTOMER_WORDS[0]} of ${number}`, pin: CUSTOMER_WORDS[1], phone: CUSTOMER_WORDS[2] },
      },
      startedTwice: chance.happens(0.2),
      authority: shape.authority(chance),
      ...(refund && { refund }),
      ownItems,
      onRejection: shape.onRejection,
      faults: this.#options.faults ? this.#faultsOf(shape, number, ownItems, takes) : [],
      ends: shape.ends,
      takes,
      total: lines.reduce((sum, { goods, quantity }) => sum + goods.unitPrice * quantity, 0),
    };
  }

  #nextShape(): Shape {
    const { shapes = SHAPES, lastForEver } = this.#options;
    if (this.#round.length === 0)
      this.#round = this.#chance.shuffled(shapes.flatMap((shape) => Array<Shape>(shape.weight).fill(shape)));
    const shape = this.#round.pop();
    if (shape === undefined) throw new Error("there is no shape to plan with");
    return shape.name === "in-flight-for-ever" && this.#count >= lastForEver ? this.#nextShape() : shape;
  }

  #linesOf(
    shape: Shape,
    number: string,
    businessId: string,
  ): { lines: { goods: Goods; quantity: number }[]; ownItems: NewItem[] } {
    const chance = this.#chance;
    const goods = chance.shuffled(goodsOf(businessId));
    const tracked = goods.filter(({ stockTracked }) => stockTracked);
    const quantity = (): number => chance.whole(1, 5);
    if (shape.ownItem) {
      const own: Goods = { id: `own_${number}`, stockTracked: true, unitPrice: 99.95 };
      const needs = { productType: false, classificationMapping: shape.ownItem === "lacks-data" };
      const item = { ...itemOf(businessId, own), registrationStatus: "PENDING", needs };
      return { lines: [{ goods: own, quantity: quantity() }], ownItems: [item] };
    }
    const chosen =
      shape.lines === "several"
        ? goods
        : shape.lines === "one-item-twice"
          ? [...tracked.slice(0, 1), ...tracked.slice(0, 1)]
          : tracked.slice(0, 1);
    return { lines: chosen.map((one) => ({ goods: one, quantity: quantity() })), ownItems: [] };
  }

  /** One disturbance of one call that this sale is sure to make; each operation meets them all in turn. */
  #faultsOf(shape: Shape, number: string, own: readonly NewItem[], takes: ReadonlyMap<string, number>): Fault[] {
    const chance = this.#chance;
    if (!chance.happens(0.7)) return [];
    const rare = shape.also.length > 0 && chance.happens(0.6);
    const operation = chance.pick<OperationName>(rare ? shape.also : ["createSale", "adjustStock", "listItems"]);
    const turn = this.#disturbed.get(operation) ?? chance.whole(0, DISTURBANCES.length - 1);
    this.#disturbed.set(operation, turn + 1);
    const disturbance = DISTURBANCES[turn % DISTURBANCES.length];
    const match = matchOf(operation, number, own, takes);
    return disturbance ? [{ operation, ...disturbance, times: 1, ...(match && { match }) }] : [];
  }
}

function matchOf(
  operation: OperationName,
  number: string,
  own: readonly NewItem[],
  takes: ReadonlyMap<string, number>,
): Fault["match"] {
  const [item] = takes.keys();
  switch (operation) {
    // A list belongs to no sale.
    case "listItems":
      return undefined;
    case "registerItem":
      return { itemId: own[0]?.id };
    case "adjustStock":
      return { referenceId: stockReferenceId(number, item ?? "", "sold") };
    case "creditNote":
      return { invoice: noteNumber(number) };
    case "createSale":
    case "readSale":
    case "retry":
      return { invoice: number };
  }
}

function refundOf(refund: NonNullable<Shape["refund"]>, number: string, chance: Chance): PlannedRefund {
  const { when, restock } = refund;
  const accept: AuthorityStep = { do: "accept" };
  const reject: AuthorityStep = { do: "reject", reason: "The authority wants it again" };
  const authority = chance.pick<readonly AuthorityStep[]>([
    [accept],
    [{ do: "accept", afterMs: chance.whole(200, 2_000) }],
    [reject, accept],
    [reject, reject, reject, reject, accept],
  ]);
  return { when, authority, request: { reason: "06", traderInvoiceNumber: noteNumber(number), restock } };
}

function noteNumber(number: string): string {
  return `${number}-CN`;
}
