import { describe, expect, test } from "vitest";

import type { Attention } from "./attention.ts";
import type { SaleDocument } from "./documents.ts";
import { asAnswered, bounded, goodsOf, withLinesThatFit } from "./payload-bounds.ts";
import { fewOf } from "./plain-text.ts";
import { jsonBytes } from "./plain-text.ts";
import type { MovementState, StockMovement } from "./stock-movement.ts";

const movement = (n: number, state: MovementState = "applied"): StockMovement => ({
  referenceId: `INV-1/goods_${n}/sold`,
  purpose: "sold",
  action: "DEDUCT",
  itemId: `goods_${n}`,
  quantity: 2,
  unitPrice: 100,
  state,
});
const attention = (code: Attention["code"], subject: string): Attention => ({
  code,
  subject,
  message: "x".repeat(200),
  sinceMs: 1,
  resolvedBy: ["retry"],
});
const many = <T>(make: (n: number) => T, count = 1_000): T[] => Array.from({ length: count }, (_, n) => make(n));

describe("the lists in an answer about a sale", () => {
  test("are complete and in order where they fit", () => {
    const all = { movements: [movement(1), movement(2, "unknown")], attentions: [], decisions: [] };
    expect(bounded(all)).toEqual(all);
  });

  test("put open entries first, with the number of all, where there are too many", () => {
    const movements = [...many((n) => movement(n)), movement(1_000, "dropped"), movement(1_001, "unknown")];
    const told = bounded({ movements, attentions: [], decisions: [] });
    expect(told.movements[0]?.state).toBe("unknown");
    expect(jsonBytes(told)).toBeLessThan(40_000);
    expect(told.inAll).toEqual({
      stockMovements: [
        { purpose: "sold", state: "applied", count: 1_000 },
        { purpose: "sold", state: "dropped", count: 1 },
        { purpose: "sold", state: "unknown", count: 1 },
      ],
    });
  });

  test("put what holds up the document before a thousand stock movements, each attention with its movement", () => {
    const movements = many((n) => movement(n));
    const attentions = [
      ...many((n) => attention("unexpected-answer", movement(n).referenceId)),
      attention("unexpected-answer", "sal_1"),
    ];
    const told = bounded({ movements, attentions, decisions: [] });
    expect(told.attentions[0]?.subject).toBe("sal_1");
    expect(told.inAll?.attentions).toBe(1_001);
    const shown = told.movements.map(({ referenceId }) => referenceId);
    expect(shown).toEqual(expect.arrayContaining(told.attentions.slice(1).map(({ subject }) => subject)));
  });

  test("keep their first count, however often they are passed on", () => {
    const once = bounded({ movements: many((n) => movement(n)), attentions: [], decisions: [] });
    expect(bounded(once)).toEqual(once);
  });
});

describe("a document of many lines", () => {
  const document: SaleDocument = {
    id: "sal_1",
    type: "sale",
    status: "completed",
    traderInvoiceNumber: "INV-1",
    lines: many((n) => ({
      id: `line_${n}`,
      itemId: `goods_${n}`,
      name: "n".repeat(300),
      quantity: 2,
      unitPrice: 100,
      total: 200,
      taxableAmount: 172.41,
      taxAmount: 27.59,
      taxRate: 16,
    })),
    totals: { total: 200_000, taxableAmount: 172_410, taxAmount: 27_590 },
  };

  test("keeps within a workflow what was sold, and in an answer the number of its lines", () => {
    const held = withLinesThatFit(document);
    expect(jsonBytes(held)).toBeLessThan(64 * 1024);
    expect(goodsOf(held)).toEqual(goodsOf(document));
    expect(asAnswered(held)).toEqual({ ...document, lines: [], linesLeftOut: { count: 1_000 } });
    expect(asAnswered(asAnswered(held))).toEqual(asAnswered(held));
    expect(withLinesThatFit(held)).toEqual(held);
  });

  test("is unchanged where its lines fit", () => {
    const small = { ...document, lines: document.lines.slice(0, 100) };
    expect(withLinesThatFit(small)).toBe(small);
    expect(asAnswered(small)).toBe(small);
  });
});

test("a list in a text names the first twenty, and the number of the others", () => {
  expect(fewOf(many(String, 21))).toHaveLength(21);
  expect(fewOf(many(String, 100)).slice(-2)).toEqual(["19", "and 80 more"]);
});
