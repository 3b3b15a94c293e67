import { ApplicationFailure } from "@temporalio/common";
import { describe, expect, test } from "vitest";

import type { Decision, FindSaleInput } from "../../src/contract/index.ts";
import {
  documentOf,
  keepRecord,
  recordOf,
  someBusiness,
  type TestRecord,
  WRITER,
} from "../../src/ledger/test-support/records.ts";
import { createLookUps } from "./index.ts";
import { emptyClaims } from "../test-support/empty-claims.ts";
import { serve } from "../test-support/served.ts";

const DECIDED: Decision = { update: "acknowledge", code: "mismatch", note: "compared", by: "njeri", atMs: 7 };

/** A business of its own, with these records, that the connection `default` serves. */
async function shop(...records: TestRecord[]) {
  const ledger = await emptyClaims();
  const { runtime } = await serve();
  const { businessId } = someBusiness();
  for (const record of records) await keepRecord(ledger, { connection: "default", businessId }, record, WRITER);
  const connections = new Map([["default", runtime]]);
  const lookUps = createLookUps({ connections, ledger, ending: new AbortController().signal });
  const look = (more: Partial<FindSaleInput> = {}) =>
    lookUps.findSale({ input: { businessId, traderInvoiceNumber: "INV-1", ...more } });
  return { ledger, look };
}

const sold = recordOf("INV-1", { document: documentOf("INV-1", { id: "sal_1" }) });

function noteOf(number: string, more: Partial<TestRecord> = {}): TestRecord {
  const document = documentOf(number, { id: `cn_${number}`, type: "credit_note", originalSaleId: "sal_1" });
  return recordOf(number, { type: "credit_note", originalSaleId: "sal_1", movements: [], document, ...more });
}

async function failureOf(asked: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  if (!(error instanceof ApplicationFailure)) throw new Error("an ApplicationFailure was expected", { cause: error });
  return error;
}

describe("the question to the ledger for a sale", () => {
  test("is answered with the document, its movements, its decisions, and who kept it when", async () => {
    const { look } = await shop({ ...sold, decisions: [DECIDED] });
    const { found } = await look();
    expect(found).toMatchObject({
      number: "INV-1",
      stage: "completed",
      document: sold.document,
      movements: sold.movements,
      attentions: [],
      decisions: [DECIDED],
      creditNote: null,
      keptBy: WRITER,
    });
    expect(Math.abs((found?.keptAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test("is refused without the business that the connection works for, which it names", async () => {
    const { look } = await shop(sold);
    const failure = await failureOf(look({ businessId: undefined }));
    expect(failure).toMatchObject({ type: "InvalidInput", nonRetryable: true });
    expect(failure.message).toContain('businessId: expected a business, found nothing. Name the business "biz_1"');
  });

  test("is answered for a credit note's number with that of the sale that it reverses, and for nobody's with nothing", async () => {
    const { look } = await shop(sold, noteOf("CN-1"));
    expect(await look({ traderInvoiceNumber: "CN-1" })).toEqual({ found: null, creditNoteOf: "INV-1" });
    expect(await look({ traderInvoiceNumber: "INV-2" })).toEqual({ found: null });
  });

  test("is answered with the signed credit note before one that was given up later", async () => {
    const givenUp = noteOf("CN-2", { document: null, stage: "cancelled", asOfMs: 1_763_600_009_000 });
    const { look } = await shop(sold, noteOf("CN-1", { stage: "credited", decisions: [DECIDED] }), givenUp);
    const { found } = await look();
    expect(found?.creditNote).toMatchObject({ number: "CN-1", stage: "credited", decisions: [DECIDED] });
    expect(found?.decisions).toEqual([]);
  });

  test("is answered with a credit note that is not signed where there is no other", async () => {
    const { look } = await shop(sold, noteOf("CN-1", { document: null, stage: "rejected" }));
    expect((await look()).found?.creditNote).toMatchObject({ number: "CN-1", stage: "rejected", document: null });
  });

  test("is refused for good where its input names no sale or no configured connection", async () => {
    const { look } = await shop(sold);
    expect(await failureOf(look({ connection: "elsewhere" }))).toMatchObject({
      type: "InvalidInput",
      nonRetryable: true,
      message: expect.stringContaining('expected a configured connection ("default"), found "elsewhere"'),
    });
    expect(await failureOf(look({ traderInvoiceNumber: "" }))).toMatchObject({ type: "InvalidInput" });
  });

  test("fails for good while the ledger is away, since a caller waits", async () => {
    const { ledger, look } = await shop(sold);
    await ledger.close();
    expect(await failureOf(look())).toMatchObject({ type: "LedgerAway", nonRetryable: true });
  });
});
