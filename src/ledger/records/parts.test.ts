import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { DocumentRecord, StockMovement } from "../../contract/index.ts";
import { openLedger } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { recordOf, someBusiness, WRITER } from "../test-support/records.ts";

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger(20_000);
  await test.ledger.ready();
});
afterAll(() => test?.drop());

type Business = ReturnType<typeof someBusiness>;
const save = (business: Business, record: DocumentRecord, writer = WRITER) =>
  test.ledger.records.saveDocument(business, record, writer);
const findings = async (business: Business) => (await test.ledger.records.verify(business)).findings;

/** By their reference: which transaction wrote the row. */
async function writtenBy({ businessId }: Business): Promise<Map<unknown, unknown>> {
  const { rows } = await test.outside.query(
    "select reference_id as key, xmin::text as writer from stock_movements where business_id = $1 order by 1",
    [businessId],
  );
  return new Map(rows.map((row) => [row["key"], row["writer"]]));
}

function recordWith(movements: readonly StockMovement[], asOfMs: number): DocumentRecord {
  return recordOf("INV-1", { movements: [...movements], asOfMs });
}

function movementOf(referenceId: string, more: Partial<StockMovement> = {}): StockMovement {
  const [movement] = recordOf("INV-1").movements;
  if (!movement) throw new Error("the record has a movement");
  return { ...movement, referenceId, ...more };
}

describe("the movements of a document", () => {
  it("are rewritten only where they changed", async () => {
    const business = someBusiness();
    await save(business, recordWith([movementOf("a"), movementOf("b")], 1));
    const movements = await writtenBy(business);
    const decided = movementOf("b", { decision: { applied: false, note: "counted anew", atMs: 7 } });
    await save(business, recordWith([movementOf("a"), decided, movementOf("c")], 2));
    const movementsNow = await writtenBy(business);
    expect([...movementsNow.keys()]).toEqual(["a", "b", "c"]);
    expect(movementsNow.get("a")).toBe(movements.get("a"));
    expect(movementsNow.get("b")).not.toBe(movements.get("b"));
    expect(await findings(business)).toEqual([]);
  });

  it("name the last run that wrote the document, also where they are unchanged", async () => {
    const business = someBusiness();
    await save(business, recordWith([movementOf("a")], 1));
    await save(business, { ...recordWith([movementOf("a")], 2), stage: "credited" }, { ...WRITER, runId: "run-2" });
    const { rows } = await test.outside.query("select run_id from stock_movements where business_id = $1", [
      business.businessId,
    ]);
    expect(rows).toEqual([{ run_id: "run-2" }]);
    expect(await findings(business)).toEqual([]);
  });

  it("may be more than one statement takes", async () => {
    const business = someBusiness();
    const movements = Array.from({ length: 1_001 }, (_, index) => movementOf(`ref-${index}`));
    await save(business, recordWith(movements, 1));
    expect((await writtenBy(business)).size).toBe(1_001);
    await save(business, recordWith(movements.slice(1), 2));
    expect((await writtenBy(business)).size).toBe(1_000);
    expect(await findings(business)).toEqual([]);
  });
});

it("forty documents of one business, written at once by many processes, are in one chain that verifies", async () => {
  const business = someBusiness();
  const ledgers = [1, 2, 3, 4].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
  const told = Array.from({ length: 40 }, (_, n) => recordOf(`INV-${n}`)).flatMap((record) => [
    { ...record, document: null, movements: [] },
    { ...record, sequence: 2 },
  ]);
  await Promise.all(
    told.map((record, n) => (ledgers[n % 4] ?? test.ledger).records.saveDocument(business, record, WRITER)),
  );
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  const { rows } = await test.outside.query(
    "select count(*)::int, count(document_id)::int as signed from documents where business_id = $1",
    [business.businessId],
  );
  expect(rows).toEqual([{ count: 40, signed: 40 }]);
  for await (const chain of test.ledger.events.verify(business)) expect(chain.findings).toEqual([]);
  expect(await findings(business)).toEqual([]);
});
