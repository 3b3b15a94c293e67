import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { DocumentRecord, StockMovement } from "../../contract/index.ts";
import { openLedger } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { documentOf, recordOf, someBusiness, WRITER } from "../test-support/records.ts";

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

/** By their key: which transaction wrote the row. */
async function writtenBy(table: string, key: string, { businessId }: Business): Promise<Map<unknown, unknown>> {
  const { rows } = await test.outside.query(
    `select ${key} as key, xmin::text as writer from ${table} where business_id = $1 order by 1`,
    [businessId],
  );
  return new Map(rows.map((row) => [row["key"], row["writer"]]));
}

function recordWith(lines: number, movements: readonly StockMovement[], asOfMs: number): DocumentRecord {
  const [line] = documentOf("INV-1").lines;
  const some = Array.from({ length: lines }, (_, index) => line && { ...line, id: `line_${index}` });
  const document = documentOf("INV-1", { lines: some.filter((one) => one !== undefined) });
  return recordOf("INV-1", { document, movements: [...movements], asOfMs });
}

function movementOf(referenceId: string, more: Partial<StockMovement> = {}): StockMovement {
  const [movement] = recordOf("INV-1").movements;
  if (!movement) throw new Error("the record has a movement");
  return { ...movement, referenceId, ...more };
}

describe("the lines and movements of a document", () => {
  it("are rewritten only where they changed", async () => {
    const business = someBusiness();
    await save(business, recordWith(3, [movementOf("a"), movementOf("b")], 1));
    const lines = await writtenBy("document_lines", "line", business);
    const movements = await writtenBy("stock_movements", "reference_id", business);
    const decided = movementOf("b", { decision: { applied: false, note: "counted anew", atMs: 7 } });
    await save(business, recordWith(2, [movementOf("a"), decided, movementOf("c")], 2));
    const linesNow = await writtenBy("document_lines", "line", business);
    const movementsNow = await writtenBy("stock_movements", "reference_id", business);
    expect([...linesNow]).toEqual([...lines].slice(0, 2));
    expect([...movementsNow.keys()]).toEqual(["a", "b", "c"]);
    expect(movementsNow.get("a")).toBe(movements.get("a"));
    expect(movementsNow.get("b")).not.toBe(movements.get("b"));
    expect(await findings(business)).toEqual([]);
  });

  it("name the last run that wrote the document, also where they are unchanged", async () => {
    const business = someBusiness();
    await save(business, recordWith(2, [movementOf("a")], 1));
    await save(business, { ...recordWith(2, [movementOf("a")], 2), stage: "credited" }, { ...WRITER, runId: "run-2" });
    const { rows } = await test.outside.query(
      `select run_id from document_lines where business_id = $1
       union select run_id from stock_movements where business_id = $1`,
      [business.businessId],
    );
    expect(rows).toEqual([{ run_id: "run-2" }]);
    expect(await findings(business)).toEqual([]);
  });

  it("may be more than one statement takes", async () => {
    const business = someBusiness();
    const movements = Array.from({ length: 1_001 }, (_, index) => movementOf(`ref-${index}`));
    await save(business, recordWith(2_001, movements, 1));
    expect((await writtenBy("document_lines", "line", business)).size).toBe(2_001);
    await save(business, recordWith(1_500, movements.slice(1), 2));
    expect((await writtenBy("document_lines", "line", business)).size).toBe(1_500);
    expect((await writtenBy("stock_movements", "reference_id", business)).size).toBe(1_000);
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
