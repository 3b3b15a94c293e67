import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { stockReferenceId } from "../../contract/index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { APPLIED, MOVEMENT, NOT_APPLIED, taking } from "../test-support/movements.ts";
import { by, WRITER } from "../test-support/records.ts";
import type { TakeRequest } from "../index.ts";

const BUSINESS = { connection: "default", businessId: "biz_1" };

describe("what a sale has taken from stock", () => {
  let ledger: TestLedger;
  beforeAll(async () => {
    ledger = await createTestLedger();
  });
  afterAll(() => ledger.drop());

  const numbers = (): string => `INV-${randomUUID()}`;
  const tryOf = (number: string, itemId: string, more: Partial<TakeRequest["movement"]> = {}): TakeRequest => ({
    of: { type: "sale", number, purpose: "sold" },
    ...BUSINESS,
    referenceId: stockReferenceId(number, itemId, "sold"),
    generation: 1,
    token: randomUUID(),
    ...taking(),
    movement: { ...MOVEMENT, itemId, ...more },
    writer: WRITER,
    nowMs: 1_700_000_000_000,
  });
  const givingBack = (number: string, undoes?: string): TakeRequest => ({
    ...tryOf(number, "tea", { action: "ADD" }),
    referenceId: stockReferenceId(number, "tea", "undone"),
    of: { type: "sale", number, purpose: "undone", undoes },
  });
  const asked = (number: string) => ledger.ledger.stock.goodsTaken({ ...BUSINESS, number, saleId: "sal_1" });

  test("is each applied movement, at the branch that the service named", async () => {
    const number = numbers();
    const { stock } = ledger.ledger;
    const request = tryOf(number, "tea", { branch: "branch_2" });
    await stock.take(request);
    await stock.settle({ ...request, outcome: { ...APPLIED, branchId: "branch_7" } });
    expect(await asked(number)).toEqual([
      { referenceId: request.referenceId, itemId: "tea", quantity: 2.5, unitPrice: 350.1, branchId: "branch_7" },
    ]);
  });

  test("is at the requested branch where an operator decided that it was applied", async () => {
    const number = numbers();
    const { stock } = ledger.ledger;
    const request = tryOf(number, "tea", { branch: "branch_2" });
    await stock.take(request);
    await stock.decide({ ...request, decision: { applied: true, note: "seen", atMs: 1 } });
    expect(await asked(number)).toMatchObject([{ branchId: "branch_2" }]);
  });

  test("is separate from held movements, whose outcome is unknown", async () => {
    const number = numbers();
    const request = tryOf(number, "tea");
    await ledger.ledger.stock.take(request);
    expect(await asked(number)).toMatchObject([{ itemId: "tea", unknown: { generation: 1, sentAtMs: request.nowMs } }]);
  });

  test("is each price of an item that was sold at several", async () => {
    const number = numbers();
    const { stock } = ledger.ledger;
    const references = [1, 2].map((part) => stockReferenceId(number, "tea", "sold", part));
    for (const referenceId of references) await stock.take({ ...tryOf(number, "tea"), referenceId });
    const referenceId = stockReferenceId(number, "tea", "undone", 2);
    await stock.take({ ...givingBack(number, references[1]), referenceId });
    const found = await asked(number);
    expect(found.map(({ referenceId, givenBack = false }) => [referenceId, givenBack])).toEqual([
      [references[0], false],
      [references[1], true],
    ]);
  });

  test("is marked as given back where a cancellation has returned it", async () => {
    const number = numbers();
    const { stock } = ledger.ledger;
    const sold = tryOf(number, "tea");
    await stock.take(sold);
    await stock.settle({ ...sold, outcome: APPLIED });
    await stock.take(givingBack(number, sold.referenceId));
    expect(await asked(number)).toMatchObject([{ referenceId: sold.referenceId, givenBack: true }]);
  });

  test("is nothing where the movement was refused, never sent, or another sale's", async () => {
    const number = numbers();
    const { stock } = ledger.ledger;
    const refused = tryOf(number, "tea");
    await stock.take(refused);
    await stock.settle({ ...refused, outcome: NOT_APPLIED });
    await stock.readOrClose({ ...tryOf(number, "flour"), nowMs: 1 });
    const other = tryOf(numbers(), "tea");
    await stock.take(other);
    expect(await asked(number)).toEqual([]);
    expect(await asked(numbers())).toEqual([]);
  });

  test("is nothing for a document that somebody else issued under the number of a sale", async () => {
    const number = numbers();
    const { stock, documents } = ledger.ledger;
    const request = tryOf(number, "tea");
    await stock.take(request);
    await stock.settle({ ...request, outcome: APPLIED });
    const intent = { ...BUSINESS, of: { type: "sale", number }, intent: 1, writer: WRITER } as const;
    const bytes = { idempotencyKey: "sale:key-0001", content: "c", request: {}, nowMs: 1 };
    const opened = { ...intent.of, stage: "resolving-items", startedAtMs: 1, date: "2026-11-20" } as const;
    await documents.open(BUSINESS, opened, by(WRITER));
    await documents.take({ ...intent, ...bytes, ...taking() });
    await documents.settle({ ...intent, outcome: { kind: "document", documentId: "sal_2" } });
    expect(await asked(number)).toEqual([]);
    expect(await ledger.ledger.stock.goodsTaken({ ...BUSINESS, number, saleId: "sal_2" })).toHaveLength(1);
  });
});
