import { describe, expect, test } from "vitest";

import { type DocumentRecord, jsonBytes, type StockMovement } from "../../src/contract/index.ts";
import { documentOf, recordOf } from "../../src/ledger/test-support/records.ts";
import { partsOf, savedFrom } from "./record.ts";

const MOST_BYTES = 256 * 1024;
const movement = (n: number): StockMovement => ({
  referenceId: `INV-1/goods_0123456789abcdef_${n}/sold`,
  purpose: "sold",
  action: "DEDUCT",
  itemId: `goods_0123456789abcdef_${n}`,
  quantity: 2,
  unitPrice: 100,
  state: "applied",
  movementId: `mov_${n}`,
});
const many = <T>(make: (n: number) => T, count = 1_000): T[] => Array.from({ length: count }, (_, n) => make(n));
const goods = many((n): [string, number, number] => [`goods_0123456789abcdef_${n}`, 2, 100]);
const large = (more: Partial<DocumentRecord> = {}): DocumentRecord =>
  recordOf("INV-1", {
    sequence: 7,
    document: documentOf("INV-1", { lines: [], linesLeftOut: { count: 1_000, goods } }),
    content: {
      businessId: "biz_1",
      traderInvoiceNumber: "INV-1",
      saleDate: null,
      paymentTypeCode: null,
      customer: null,
      lines: goods.map(([id, quantity, unitPrice]) => ({ item: `id:${id}`, quantity, unitPrice })),
      saleId: null,
      branch: null,
    },
    movements: many(movement),
    ...more,
  });

describe("the parts of a record", () => {
  test("are a single one where it fits", () => {
    const record = recordOf("INV-1");
    expect(partsOf(record, savedFrom(record))).toEqual([record]);
  });

  test("are as many as needed, each building on the one before, and only the last is complete", () => {
    const record = large();
    const parts = partsOf(record, undefined);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(jsonBytes(part)).toBeLessThan(MOST_BYTES);
    expect(parts.map(({ sequence }) => sequence)).toEqual(parts.map((_, n) => 7 + n));
    expect(parts.map(({ since }) => since)).toEqual([undefined, ...parts.slice(1).map((_, n) => 7 + n)]);
    expect(parts.map(({ incomplete }) => incomplete)).toEqual([...parts.slice(1).map(() => true), undefined]);
    expect(parts.flatMap(({ movements }) => movements)).toEqual(record.movements);
    expect(parts[0]).toMatchObject({ content: record.content, document: { linesLeftOut: { count: 1_000 } } });
    expect(parts[0]?.document).not.toHaveProperty("linesLeftOut.goods");
    expect(parts.slice(1).every(({ content, document }) => content === undefined && document === "unchanged")).toBe(
      true,
    );
  });

  test("contain only what changed since the previous record", () => {
    const standing = { code: "stock-unknown", subject: "s", message: "?", sinceMs: 1, resolvedBy: [] } as const;
    const decision = { update: "resolveStock", note: "counted", atMs: 7 } as const;
    const before = large({ attentions: [standing], decisions: [{ ...decision, atMs: 6 }] });
    const dropped = { ...movement(3), state: "dropped" } as const;
    const now = large({
      sequence: 8,
      movements: before.movements.with(3, dropped),
      decisions: [...before.decisions, decision],
    });
    const parts = partsOf(now, savedFrom(before));
    expect(parts).toMatchObject([
      {
        sequence: 8,
        since: 7,
        document: "unchanged",
        movements: [dropped],
        attentions: [],
        attentionsOver: [{ code: "stock-unknown", subject: "s" }],
        decisions: [decision],
      },
    ]);
    expect(parts[0]).not.toHaveProperty("content");
    expect(jsonBytes(parts)).toBeLessThan(2_000);
  });

  test("contain only what changed of a record that would fit, too, so that hundreds of them fit a history", () => {
    const before = large({ movements: many(movement, 200), content: undefined });
    const now = large({
      ...before,
      sequence: 8,
      movements: before.movements.with(3, { ...movement(3), state: "dropped" }),
    });
    expect(partsOf(before, undefined)).toHaveLength(1);
    const parts = partsOf(now, savedFrom(before));
    expect(parts).toMatchObject([{ since: 7, document: "unchanged", movements: [{ state: "dropped" }] }]);
    expect(jsonBytes(parts)).toBeLessThan(1_000);
  });

  test("keep the state of their start, whatever changes while they are sent", () => {
    const record = large();
    const parts = partsOf(record, undefined);
    for (const one of record.movements) one.state = "dropped";
    expect(parts.flatMap(({ movements }) => movements).every(({ state }) => state === "applied")).toBe(true);
  });
});
