import { afterAll, beforeAll, expect, test } from "vitest";

import type { ClosedRun } from "../../contract/index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { by, documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../test-support/records.ts";
import { verified } from "../test-support/verified.ts";

const CLOSED: ClosedRun = { status: "terminated", atMs: 1_763_600_100_000, reason: "by mistake" };
const OF = { type: "sale", number: "INV-1" } as const;
const PERIOD = { kind: "month", from: "2026-11-01", to: "2026-11-30" } as const;

let ledgers: TestLedger;
beforeAll(async () => {
  ledgers = await createTestLedger(15_000);
  await ledgers.ledger.ready();
});
afterAll(() => ledgers?.drop());

async function openSale() {
  const { documents, reports } = ledgers.ledger;
  const business = someBusiness();
  const saved = recordOf("INV-1", { stage: "awaiting-authority", document: null, movements: [] });
  await keepRecord(ledgers.ledger, business, saved);
  return {
    business,
    documents,
    saved,
    kept: async () => (await documents.findSale(business, "INV-1"))?.record,
    report: async () => (await reports.read({ period: PERIOD, ...business }))[0],
    mark: (closed: ClosedRun | undefined) => documents.markClosed(business, OF, WRITER, closed),
  };
}

test("a document's row whose run was terminated is neither open nor at risk, and its event verifies", async () => {
  const { business, documents, kept, report, mark } = await openSale();
  expect(await report()).toMatchObject({ open: [{ number: "INV-1" }], ended: { documents: [], amount: "0" } });
  await mark(CLOSED);
  await mark(CLOSED);
  expect(await kept()).toMatchObject({ closed: CLOSED, stage: "awaiting-authority" });
  const listed = [{ number: "INV-1", status: "terminated", endedAtMs: CLOSED.atMs }];
  expect(await report()).toMatchObject({ open: [], atRisk: "0", ended: { documents: listed, more: 0 } });
  expect((await documents.closedRows()).filter((row) => row.business.businessId === business.businessId)).toEqual([
    { business, of: OF, writer: WRITER },
  ]);
  expect((await verified(ledgers.ledger, business)).findings).toEqual([]);
});

test("a terminated document's row is open again once another run takes it over or writes it", async () => {
  const { business, documents, saved, kept, report, mark } = await openSale();
  await mark(CLOSED);
  await mark(undefined);
  expect((await report())?.open).toHaveLength(1);
  await mark(CLOSED);
  const next = { ...WRITER, runId: "run-2" };
  await documents.open(business, saved, by(next));
  expect(await kept()).not.toHaveProperty("closed");
  // Somebody who looked before the other run began comes too late.
  await mark(CLOSED);
  expect(await kept()).not.toHaveProperty("closed");
  expect((await verified(ledgers.ledger, business)).findings).toEqual([]);
});

test("what a terminated run had under way does not open its row again", async () => {
  const { business, documents, saved, kept, mark } = await openSale();
  await mark(CLOSED);
  await keepRecord(ledgers.ledger, business, { ...saved, asOfMs: saved.asOfMs + 1, stage: "rejected" });
  expect(await kept()).toMatchObject({ closed: CLOSED, stage: "rejected" });
  const document = documentOf("INV-1");
  await documents.answered(business, OF, { document, askedAtMs: saved.asOfMs + 2 }, WRITER);
  expect(await kept()).toMatchObject({ closed: CLOSED, stage: "completed", document: { id: document.id } });
  expect((await verified(ledgers.ledger, business)).findings).toEqual([]);
});

test("marking a terminated run changes nothing where the ledger has no row of it", async () => {
  const business = someBusiness();
  await ledgers.ledger.documents.markClosed(business, OF, WRITER, CLOSED);
  expect(await ledgers.ledger.documents.findSale(business, "INV-1")).toBeUndefined();
});
