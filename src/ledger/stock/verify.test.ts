import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { APPLIED, firstTry, NOT_APPLIED, taking } from "../test-support/movements.ts";
import { someBusiness } from "../test-support/records.ts";
import type { TakeRequest } from "../index.ts";
import { verified } from "../test-support/verified.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;
const SEEN = { note: "counted", by: "amina", atMs: 1_700_000_500_000 };
const findings = async (business: Business) => (await verified(test.ledger, business)).findings;

/** One movement that was applied, as its business has it. */
async function applied(): Promise<{ business: Business; first: TakeRequest }> {
  const business = someBusiness();
  const first = { ...firstTry(), ...business, referenceId: "INV-1/item_1/sold" };
  await test.ledger.stock.take(first);
  await test.ledger.stock.settle({ ...first, outcome: APPLIED });
  return { business, first };
}

describe("the verification of movements", () => {
  it("finds nothing in rows that their events tell of, whatever happened to them", async () => {
    const { business, first } = await applied();
    const { stock } = test.ledger;
    expect(await stock.settle({ ...first, outcome: NOT_APPLIED })).toBe("contradicted");
    expect(await stock.decide({ ...first, decision: { ...SEEN, applied: false } })).toEqual(APPLIED);
    const [refused, decided, late, held] = ["refused", "decided", "late", "held"].map((referenceId): TakeRequest => ({
      ...firstTry(),
      ...business,
      referenceId,
    }));
    if (!refused || !decided || !late || !held) throw new Error("four movements");
    await stock.take(refused);
    await stock.settle({ ...refused, outcome: NOT_APPLIED });
    await stock.take({ ...refused, ...taking(), generation: 2, token: "second" });
    await stock.take(decided);
    await stock.decide({ ...decided, decision: { ...SEEN, applied: true } });
    await stock.take(late);
    await stock.decide({ ...late, decision: { ...SEEN, applied: false } });
    expect(await stock.settle({ ...late, outcome: APPLIED })).toBe("contradicted");
    await stock.take(held);
    await stock.take({ ...held, ...taking(), unsent: [held.execution] });
    await stock.close({ keys: [{ ...business, referenceId: "never" }, refused], writer: first.writer, nowMs: 5 });
    expect(await verified(test.ledger, business)).toMatchObject({ movements: 6, findings: [], moreFindings: 0 });
    for await (const chain of test.ledger.verify(business)) expect(chain.findings).toEqual([]);
  });

  it.each([
    ["update movements set state = 'not-applied' where business_id = $1", { kind: "row-changed", columns: ["state"] }],
    ["update movements set quantity = 3 where business_id = $1", { kind: "row-changed", columns: ["quantity"] }],
    ["update movements set decision = '{}' where business_id = $1", { kind: "row-changed", columns: ["decision"] }],
    ["update movements set number = 'INV-2' where business_id = $1", { kind: "row-changed", columns: ["number"] }],
    ["delete from movements where business_id = $1", { kind: "row-missing" }],
    [
      "update movements set reference_id = 'another' where business_id = $1",
      { kind: "row-behind", subject: "movement another", last: null },
    ],
  ])("finds the alteration: %s", async (statement, finding) => {
    const { business } = await applied();
    await test.outside.query(statement, [business.businessId]);
    const subject = "movement INV-1/item_1/sold";
    expect((await findings(business))[0]).toMatchObject({ table: "movements", subject, ...finding });
  });

  it("is told by events that have no token", async () => {
    const { business, first } = await applied();
    await test.ledger.stock.settle({ ...first, outcome: NOT_APPLIED });
    const { rows } = await test.outside.query("select content, key from events where business_id = $1", [
      business.businessId,
    ]);
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows)).not.toContain(first.token);
    expect(JSON.stringify(rows)).not.toContain(first.execution);
  });
});
