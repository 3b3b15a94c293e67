import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import type { DocumentAnswer } from "./reconciliation.ts";
import { documentOf, keepRecord, recordOf, someBusiness, WRITER } from "../test-support/records.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;
const runOf = (n: number) => ({ workflowId: "reconcile/default/biz", runId: `run-${n}` });

async function found(business: Business): Promise<[string, string, string][]> {
  const { first } = await test.ledger.reconciliation.findings(business, 100);
  return first.map(({ kind, subject, reason }) => [kind, subject, reason]);
}

describe("a document compared with the service", () => {
  const sale = (number: string) => ({ type: "sale" as const, number, saleId: `sale_${number}` });
  const hold = (business: Business, number: string, told: ReturnType<typeof documentOf> | undefined) =>
    holdAnswer(business, number, told ? { kind: "document", document: told } : { kind: "not-there" });
  const holdAnswer = (business: Business, number: string, told: DocumentAnswer, askedAtMs = Date.now()) =>
    test.ledger.reconciliation.holdDocument(business, sale(number), { answer: told, askedAtMs }, runOf(1));
  const listed = async (business: Business): Promise<string[]> =>
    (await test.ledger.reconciliation.documents(business, undefined, 10)).map(({ number }) => number);

  it("is not read again once it is final and equal, until the ledger has another state", async () => {
    const business = someBusiness();
    await keepRecord(test.ledger, business, recordOf("INV-1"), WRITER);
    await keepRecord(test.ledger, business, recordOf("INV-2"), WRITER);
    expect(await listed(business)).toEqual(["INV-1", "INV-2"]);
    const near = documentOf("INV-1", { totals: { total: 700.21, taxableAmount: 603.61, taxAmount: 96.58 } });
    expect(await hold(business, "INV-1", near)).toBe("final");
    expect(await listed(business)).toEqual(["INV-2"]);
    await keepRecord(
      test.ledger,
      business,
      recordOf("INV-1", { stage: "credited", asOfMs: 1_763_600_000_009 }),
      WRITER,
    );
    expect(await listed(business)).toEqual(["INV-1", "INV-2"]);
  });

  it("is not held against an answer that is older than the ledger's own", async () => {
    const business = someBusiness();
    await keepRecord(test.ledger, business, recordOf("INV-1"), WRITER);
    const { rows } = await test.outside.query<{ at: Date }>(
      "select coalesce(answered_at, as_of) as at from documents where business_id = $1",
      [business.businessId],
    );
    const answeredAtMs = rows[0]?.at.getTime() ?? 0;
    const document = documentOf("INV-1", { status: "pending", receipt: null });
    const asked = (askedAtMs: number) => holdAnswer(business, "INV-1", { kind: "document", document }, askedAtMs);
    expect(await asked(answeredAtMs - 1)).toBe("not-final");
    expect(await found(business)).toEqual([]);
    expect(await asked(answeredAtMs + 1)).toBe("differs");
  });

  it("is equal to itself whatever its texts", async () => {
    const business = someBusiness();
    const odd = documentOf("INV-1", { customer: { pin: "zero \0 and half \ud800" } });
    await keepRecord(test.ledger, business, recordOf("INV-1", { document: odd }), WRITER);
    expect(await hold(business, "INV-1", odd)).toBe("final");
  });

  it("is a finding where amounts differ by more than a cent or it does not exist, until it is corrected", async () => {
    const business = someBusiness();
    await keepRecord(test.ledger, business, recordOf("INV-1"), WRITER);
    await keepRecord(test.ledger, business, recordOf("INV-2"), WRITER);
    const other = documentOf("INV-1", { totals: { total: 700.22, taxableAmount: 603.62, taxAmount: 96.58 } });
    expect(await hold(business, "INV-1", other)).toBe("differs");
    expect(await hold(business, "INV-2", undefined)).toBe("differs");
    expect(await found(business)).toEqual([
      ["document-differs", "sale_INV-1", "The sale INV-1 (sale_INV-1): the total is 700.22, in the ledger 700.20."],
      ["document-not-there", "sale_INV-2", expect.stringContaining("the service knows no such document")],
    ]);
    expect(await hold(business, "INV-1", documentOf("INV-1"))).toBe("final");
    expect(await hold(business, "INV-2", documentOf("INV-2"))).toBe("final");
    expect(await found(business)).toEqual([]);
    const { rows } = await test.outside.query(
      "select kind from events where business_id = $1 and kind like 'finding%' order by number",
      [business.businessId],
    );
    expect(rows).toEqual(
      ["finding-raised", "finding-raised", "finding-gone", "finding-gone"].map((kind) => ({ kind })),
    );
  });

  it("is reported as behind where the service has its final status, and is read again while it is in flight", async () => {
    const business = someBusiness();
    const inFlight = documentOf("INV-1", { status: "pending", receipt: null });
    await keepRecord(
      test.ledger,
      business,
      recordOf("INV-1", { document: inFlight, stage: "awaiting-authority" }),
      WRITER,
    );
    expect(await hold(business, "INV-1", inFlight)).toBe("not-final");
    expect(await listed(business)).toEqual(["INV-1"]);
    expect(await hold(business, "INV-1", documentOf("INV-1"))).toBe("differs");
    expect((await found(business)).map(([kind]) => kind)).toEqual(["document-behind"]);
  });

  it("that failed is no longer read once the ledger's state of it is old", async () => {
    const business = someBusiness();
    const DAY_MS = 24 * 60 * 60_000;
    const document = (number: string) => documentOf(number, { status: "failed", receipt: null, error: "no" });
    for (const [number, days] of [
      ["INV-1", 34],
      ["INV-2", 36],
    ] as const) {
      const asOfMs = Date.now() - days * DAY_MS;
      const record = recordOf(number, { document: document(number), stage: "rejected", asOfMs });
      await keepRecord(test.ledger, business, record, WRITER);
    }
    expect(await hold(business, "INV-1", document("INV-1"))).toBe("not-final");
    expect(await hold(business, "INV-2", document("INV-2"))).toBe("final");
    expect(await listed(business)).toEqual(["INV-1"]);
  });

  it("that was rejected is told apart once its sale is cancelled", async () => {
    const business = someBusiness();
    const document = documentOf("INV-1", { status: "failed", receipt: null, error: "no" });
    const asOfMs = Date.now();
    const save = (stage: "rejected" | "cancelled", at: number) =>
      keepRecord(test.ledger, business, recordOf("INV-1", { document, stage, asOfMs: at }), WRITER);
    await save("rejected", asOfMs);
    expect(await hold(business, "INV-1", document)).toBe("not-final");
    await save("cancelled", asOfMs + 1);
    expect(await hold(business, "INV-1", document)).toBe("given-up");
    expect(await listed(business)).toEqual(["INV-1"]);
  });

  it("is a finding of its own while the service's answer is unreadable, beside earlier findings", async () => {
    const business = someBusiness();
    await keepRecord(test.ledger, business, recordOf("INV-1"), WRITER);
    await hold(business, "INV-1", undefined);
    expect(await holdAnswer(business, "INV-1", { kind: "unreadable", message: "getSale: HTTP 500." })).toBe(
      "unreadable",
    );
    expect(await found(business)).toEqual([
      ["document-not-there", "sale_INV-1", expect.any(String)],
      ["document-unreadable", "sale_INV-1", "The sale INV-1 (sale_INV-1) could not be compared. getSale: HTTP 500."],
    ]);
    expect(await listed(business)).toEqual(["INV-1"]);
    expect(await hold(business, "INV-1", documentOf("INV-1"))).toBe("final");
    expect(await found(business)).toEqual([]);
  });
});
