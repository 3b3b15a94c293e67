import { afterAll, beforeAll, expect, test } from "vitest";

import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import type { TakeRequest } from "../index.ts";
import { firstTry } from "../test-support/movements.ts";
import { keepRecord, recordOf, someBusiness, type TestRecord } from "../test-support/records.ts";

const CONTENT = { lines: [] } as unknown as NonNullable<TestRecord["content"]>;
const REFUND = { reason: "06", traderInvoiceNumber: "CN-1" } as const;

let ledgers: TestLedger;
beforeAll(async () => {
  ledgers = await createTestLedger(15_000);
  await ledgers.ledger.ready();
});
afterAll(() => ledgers?.drop());

/** What was answered just before the end is looked at in any case. */
async function answeredLongAgo(): Promise<void> {
  await ledgers.outside.query("update documents set answered_at = answered_at - interval '1 day'");
  const latest = recordOf("LATEST");
  await keepRecord(ledgers.ledger, someBusiness(), latest, { workflowId: "sale/default/another/LATEST", runId: "r" });
}

/** What the ledger says is left of one sale in a business of its own. */
async function leftOf(more: Partial<TestRecord>) {
  const business = someBusiness();
  const workflowId = `sale/default/${business.businessId}/INV-1`;
  await keepRecord(ledgers.ledger, business, recordOf("INV-1", more), { workflowId, runId: "run-1" });
  await answeredLongAgo();
  const { sales, next } = await ledgers.ledger.documents.unfinished(business);
  expect(next).toBeUndefined();
  return sales.map(({ number, stage, isEnded, asked }) => ({ number, stage, isEnded, isAsked: asked !== undefined }));
}

const ATTENTION: TestRecord["attentions"] = [
  { code: "rejected", message: "no", sinceMs: 1_763_600_000_000, resolvedBy: ["retry"] },
] as unknown as TestRecord["attentions"];

test.each<[string, Partial<TestRecord>]>([
  ["that waits for the authority", { stage: "awaiting-authority", document: null, movements: [] }],
  ["that needs an operator", { attentions: ATTENTION }],
  ["of which a movement is still to come", { movementsPlanned: 2 }],
  ["that is to be refunded", { stage: "crediting", refund: REFUND }],
])("a sale %s is left to be done", async (_which, more) => {
  expect(await leftOf(more)).toMatchObject([{ number: "INV-1", isEnded: false, isAsked: false }]);
});

test.each<[string, Partial<TestRecord>]>([
  ["completed", { movements: [] }],
  ["cancelled", { stage: "cancelled", document: null, movements: [] }],
  ["failed", { stage: "submitting", document: null, movements: [], failed: true }],
])("of a sale that is %s nothing is left", async (_which, more) => {
  expect(await leftOf(more)).toEqual([]);
});

test("a sale of which a movement was put off is left to be done", async () => {
  const business = someBusiness();
  const { ledger } = ledgers;
  await keepRecord(ledger, business, recordOf("INV-1", { movements: [], movementsPlanned: 1 }));
  const key = { ...business, referenceId: "INV-1/item_tea/sold" };
  const taken: TakeRequest = {
    ...firstTry(),
    ...key,
    of: { type: "sale", number: "INV-1", purpose: "sold" },
    movement: { itemId: "item_tea", action: "DEDUCT", quantity: 1, unitPrice: 1 },
  };
  await ledger.stock.take(taken);
  await ledger.stock.settle({ ...taken, outcome: { kind: "not-applied", message: "later", putOff: true } });
  await answeredLongAgo();
  expect((await ledger.documents.unfinished(business)).sales).toMatchObject([{ number: "INV-1" }]);
});

test("what was answered just before the end is looked at, also where nobody has noted what is wrong with it", async () => {
  const business = someBusiness();
  await keepRecord(ledgers.ledger, business, recordOf("INV-1", { expectedTotal: 1 }));
  expect((await ledgers.ledger.documents.unfinished(business)).sales).toMatchObject([{ number: "INV-1" }]);
});

test("characters that the database refuses in JSON hide no sale", async () => {
  const { document } = recordOf("INV-1");
  const odd = { ...document, customer: { name: "Du\u0000ka \ud800", pin: null } } as TestRecord["document"];
  expect(await leftOf({ document: odd, movementsPlanned: 2 })).toMatchObject([{ number: "INV-1" }]);
});

test("a sale whose workflow was terminated is told as such, and what was asked for is had", async () => {
  const closed = { status: "terminated", atMs: 1_763_600_100_000, reason: "by mistake" } as const;
  const open = { stage: "awaiting-authority", document: null, movements: [] } as const;
  const asked = { fingerprint: "f", content: CONTENT };
  expect(await leftOf({ ...open, movements: [], closed, ...asked })).toMatchObject([{ isEnded: true, isAsked: true }]);
});

test("a corrected sale that has not begun is left to the sale that it corrects", async () => {
  const business = someBusiness();
  const reserved = recordOf("INV-2", { stage: "submitting", document: null, movements: [], replaces: "INV-1" });
  await keepRecord(ledgers.ledger, business, reserved, {
    workflowId: `sale/default/${business.businessId}/INV-1`,
    runId: "run-1",
  });
  expect((await ledgers.ledger.documents.unfinished(business)).sales).toEqual([]);
});

test("all sales are found, page by page", async () => {
  const connection = "paged";
  const numbers = Array.from({ length: 7 }, (_, n) => `INV-${String(n).padStart(3, "0")}`);
  for (const number of numbers)
    await ledgers.ledger.documents.open(
      { connection, businessId: "biz_1" },
      recordOf(number, { stage: "submitting", document: null, movements: [] }),
      { writer: { workflowId: `sale/${connection}/biz_1/${number}`, runId: "r" }, askedAtMs: 1_763_600_000_000 },
    );
  const found: string[] = [];
  const pages: number[] = [];
  let after: Parameters<typeof ledgers.ledger.documents.unfinished>[0]["after"];
  do {
    const { sales, next } = await ledgers.ledger.documents.unfinished({ connection, after }, 3);
    found.push(...sales.map(({ number }) => number));
    pages.push(sales.length);
    after = next;
  } while (after);
  expect([found, pages]).toEqual([numbers, [3, 3, 1]]);
});
