import { afterAll, beforeAll, expect, test } from "vitest";

import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { keepRecord, recordOf, someBusiness, type TestRecord } from "../test-support/records.ts";

const CONTENT = { lines: [] } as unknown as NonNullable<TestRecord["content"]>;
const REFUND = { reason: "06", traderInvoiceNumber: "CN-1" } as const;

let ledgers: TestLedger;
beforeAll(async () => {
  ledgers = await createTestLedger(15_000);
  await ledgers.ledger.ready();
});
afterAll(() => ledgers?.drop());

/** What the ledger says is left of one sale in a business of its own. */
async function leftOf(more: Partial<TestRecord>) {
  const business = someBusiness();
  const workflowId = `sale/default/${business.businessId}/INV-1`;
  await keepRecord(ledgers.ledger, business, recordOf("INV-1", more), { workflowId, runId: "run-1" });
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
  ["completed", { movementsPlanned: 1 }],
  ["cancelled", { stage: "cancelled", document: null, movements: [] }],
  ["failed", { stage: "submitting", document: null, movements: [], failed: true }],
])("of a sale that is %s nothing is left", async (_which, more) => {
  expect(await leftOf(more)).toEqual([]);
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
  const numbers = Array.from({ length: 205 }, (_, n) => `INV-${String(n).padStart(3, "0")}`);
  for (const number of numbers)
    await ledgers.ledger.documents.open(
      { connection, businessId: "biz_1" },
      recordOf(number, { stage: "submitting", document: null, movements: [] }),
      { writer: { workflowId: `sale/${connection}/biz_1/${number}`, runId: "r" }, askedAtMs: 1_763_600_000_000 },
    );
  const first = await ledgers.ledger.documents.unfinished({ connection });
  const second = await ledgers.ledger.documents.unfinished({ connection, after: first.next });
  expect([...first.sales, ...second.sales].map(({ number }) => number)).toEqual(numbers);
  expect([first.sales.length, second.next]).toEqual([200, undefined]);
});
