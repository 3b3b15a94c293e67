import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { TakeRequest } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { firstTry, NOT_APPLIED } from "../test-support/movements.ts";
import { keepRecord, recordOf, someBusiness, type TestRecord, WRITER } from "../test-support/records.ts";

const REFERENCE = "INV-1/item_tea/sold";
const PUT_OFF = { kind: "not-applied", message: "later", putOff: true } as const;
const GIVEN_UP: TestRecord["decisions"] = [
  { update: "acknowledge", code: "stock-refused", subject: REFERENCE, note: "counted", atMs: 1_763_600_100_000 },
];

let ledgers: TestLedger;
beforeAll(async () => {
  ledgers = await createTestLedger(15_000);
  await ledgers.ledger.ready();
});
afterAll(() => ledgers?.drop());

describe("whether a sale moves stock", () => {
  /** As it is listed: a sale of one movement, which was taken to be sent if it has an outcome. */
  async function isMoving(
    more: Partial<TestRecord>,
    outcome?: Parameters<TestLedger["ledger"]["stock"]["settle"]>[0]["outcome"],
    purpose: "sold" | "undone" = "sold",
  ): Promise<boolean | undefined> {
    const { documents, stock } = ledgers.ledger;
    const business = someBusiness();
    await keepRecord(ledgers.ledger, business, recordOf("INV-1", { movements: [], movementsPlanned: 1, ...more }));
    const movement = { itemId: "item_tea", action: "DEDUCT", quantity: 1, unitPrice: 1 } as const;
    const of = { type: "sale", number: "INV-1", purpose } as const;
    const taken: TakeRequest = { ...firstTry(), ...business, referenceId: REFERENCE, of, movement, writer: WRITER };
    if (outcome) {
      await stock.take(taken);
      await stock.settle({ ...taken, outcome });
    }
    const [sale] = await documents.listSales({ ...business, limit: 2 });
    return sale?.isMoving;
  }

  test("it does until each of its movements is made", async () => {
    expect(await isMoving({})).toBe(true);
    expect(await isMoving({}, PUT_OFF)).toBe(true);
    expect(await isMoving({ stage: "credited" }, PUT_OFF)).toBe(true);
    expect(await isMoving({ ...recordOf("INV-1"), movementsPlanned: 2 })).toBe(true);
    expect(await isMoving({ ...recordOf("INV-1"), movementsPlanned: 1 })).toBe(false);
    expect(await isMoving({ movementsPlanned: 0 })).toBe(false);
  });

  test("one that an operator gave up is not awaited", async () => {
    expect(await isMoving({ decisions: GIVEN_UP }, NOT_APPLIED)).toBe(false);
    expect(await isMoving({ decisions: GIVEN_UP })).toBe(false);
    expect(await isMoving({ decisions: GIVEN_UP, movementsPlanned: 2 })).toBe(true);
    const { ledger, outside } = ledgers;
    const business = someBusiness();
    await keepRecord(ledger, business, recordOf("INV-1", { decisions: GIVEN_UP }));
    // Put off before it was given up.
    await outside.query(
      `update movements set state = 'not-applied', outcome = '${JSON.stringify(PUT_OFF)}' where business_id = '${business.businessId}'`,
    );
    expect(await ledger.documents.listSales({ ...business, limit: 2 })).toMatchObject([{ isMoving: false }]);
  });

  test("a sale that was given up makes none any more", async () => {
    expect(await isMoving({ stage: "cancelled", document: null })).toBe(false);
    expect(await isMoving({ stage: "cancelled", document: null }, PUT_OFF)).toBe(false);
    expect(await isMoving({ movementsPlanned: 0 }, PUT_OFF, "undone")).toBe(false);
  });

  test("of one that was refused an attention tells", async () => {
    expect(await isMoving({}, NOT_APPLIED)).toBe(false);
  });
});
