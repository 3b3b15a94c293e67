import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { RESOLVED_BY, SETTLED_STAGES, STAGES, type Stage, type StockMovement } from "../../src/contract/index.ts";
import { documentOf } from "../../src/ledger/test-support/records.ts";
import { SaleState, STAGE_TRANSITIONS } from "./state.ts";

/** A sale outside a workflow: nothing is published, and no clock stands behind it. */
class SilentSale extends SaleState {
  constructor(type: "sale" | "credit_note") {
    super(type, "INV-1", type === "sale" ? "resolving-items" : "submitting");
  }
  override publish(): void {}
}

const STATES = ["planned", "sending", "applied", "refused", "unknown", "dropped"] as const;
const STATUSES = ["pending", "processing", "completed", "failed", "cancelled"] as const;
const CODES = ["rejected", "stock-unknown", "stock-refused", "authority-slow", "credentials"] as const;

/** What can happen to a sale from outside, and what its steps do, in any order. */
const happening = fc.oneof(
  fc.record({ does: fc.constant("move" as const), to: fc.constantFrom(...STAGES) }),
  fc.record({ does: fc.constant("stock" as const), state: fc.constantFrom(...STATES) }),
  fc.record({ does: fc.constant("document" as const), status: fc.constantFrom(...STATUSES) }),
  fc.record({ does: fc.constant("raise" as const), code: fc.constantFrom(...CODES) }),
  fc.record({ does: fc.constant("clear" as const), code: fc.constantFrom(...CODES) }),
  fc.record({ does: fc.constant("cancel" as const) }),
  fc.record({ does: fc.constant("doubt" as const), is: fc.boolean() }),
);
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

const movement = (): StockMovement => ({
  referenceId: "INV-1/tea/sold",
  purpose: "sold",
  action: "DEDUCT",
  itemId: "tea",
  quantity: 1,
  unitPrice: 1,
  state: "planned",
});

function happens(sale: SilentSale, one: Happening): void {
  switch (one.does) {
    case "move":
      if (STAGE_TRANSITIONS[sale.stage].includes(one.to)) sale.moveTo(one.to, "what comes next");
      return;
    case "stock": {
      const [first = movement()] = sale.movements;
      if (sale.movements.length === 0) sale.movements.push(first);
      first.state = one.state;
      sale.stockMoved();
      return;
    }
    case "document":
      sale.document = documentOf("INV-1", { status: one.status });
      return;
    case "raise":
      sale.raise({ code: one.code, message: "why" });
      return;
    case "clear":
      sale.clear(one.code);
      return;
    case "cancel":
      sale.requestCancel("why");
      return;
    case "doubt":
      sale.documentInDoubt = one.is;
  }
}

/** What holds of a sale at every moment, whatever has happened to it. Not by `expect`: it is asked a million times. */
function brokenPromise(sale: SilentSale, before: Stage): string | undefined {
  const { stage, document, attentions, allowed } = sale;
  if (stage !== before && !STAGE_TRANSITIONS[before].includes(stage)) return `${before} led to ${stage}`;
  if (sale.settled !== SETTLED_STAGES.includes(stage)) return "settled at another stage";
  if (sale.cancelDue && sale.documentInDoubt) return "given up while a document may exist";
  if (sale.cancelDue && document && document.status !== "failed" && document.status !== "cancelled")
    return `given up although its document is ${document.status}`;
  if (sale.heldUp && !sale.parked) return "held up by nothing that an operator sees";
  const missing = attentions
    .flatMap(({ code }) => RESOLVED_BY[code])
    .find((update) => !allowed.updates.includes(update));
  if (missing !== undefined) return `does not say that it takes ${missing}`;
  const refundable = stage === "completed" && !sale.refund;
  if (allowed.updates.includes("refund") !== refundable) return "says of a refund what is not so";
  return undefined;
}

describe("the stages of a sale", () => {
  test("keep their invariants in 100,000 random orders of events", () => {
    const orders = fc.property(
      fc.constantFrom("sale", "credit_note"),
      fc.array(happening, { maxLength: 12 }),
      (type, all) => {
        const sale = new SilentSale(type);
        for (const one of all) {
          const before = sale.stage;
          happens(sale, one);
          const broken = brokenPromise(sale, before);
          if (broken !== undefined) throw new Error(broken);
        }
      },
    );
    expect(fc.check(orders, { numRuns: 100_000 })).toMatchObject({ failed: false, numRuns: 100_000 });
  });

  test("refuse a transition that is not in the table, and stay unchanged", () => {
    const strange = STAGES.flatMap((from) =>
      STAGES.flatMap((to) => (from === to || STAGE_TRANSITIONS[from].includes(to) ? [] : [[from, to] as const])),
    );
    expect(strange.length).toBeGreaterThan(0);
    for (const [from, to] of strange) {
      const sale = new SilentSale("sale");
      sale.stage = from;
      expect(() => sale.moveTo(to, "what comes next")).toThrow(`stage ${from} does not lead to ${to}`);
      expect(sale.stage).toBe(from);
    }
  });

  test("have final stages without transitions, and each is reachable", () => {
    const reached = new Set<Stage>(["resolving-items"]);
    for (const stage of reached) for (const next of STAGE_TRANSITIONS[stage]) reached.add(next);
    expect([...reached].toSorted()).toEqual([...STAGES].toSorted());
    const ends = STAGES.filter((stage) => STAGE_TRANSITIONS[stage].length === 0);
    expect(ends).toEqual(["credited", "cancelled"]);
  });
});
