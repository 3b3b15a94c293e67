import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openLedger } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { taking } from "../test-support/movements.ts";
import { by, documentOf } from "../test-support/records.ts";
import type { TakeDocumentRequest } from "../index.ts";
import type { Documents } from "./documents.ts";
import { verified } from "../test-support/verified.ts";

let test: TestLedger;
let documents: Documents;
beforeAll(async () => {
  test = await createTestLedger();
  ({ documents } = test.ledger);
});
afterAll(() => test.drop());

const NOW = 1_700_000_000_000;

const writerOf = (saleId: string, businessId: string) => ({
  workflowId: `sale/default/${businessId}/${saleId}`,
  runId: "1",
});

/** The credit note of a sale under a number, in a business that no other test has. */
function noteOf(saleId: string, businessId: string, number = "CN-1"): TakeDocumentRequest {
  return {
    connection: "default",
    businessId,
    of: { type: "credit_note", number, originalSaleId: saleId },
    intent: 1,
    idempotencyKey: `key-of-${saleId}-${number}`,
    content: "fingerprint",
    request: { saleId, number },
    nowMs: NOW,
    writer: writerOf(saleId, businessId),
    ...taking(),
  };
}

/** Its row, as its run opens it before it takes the claim. */
async function open({ of, writer, ...business }: TakeDocumentRequest): Promise<void> {
  const opened = { ...of, stage: "submitting", startedAtMs: NOW, date: "2026-11-20" } as const;
  await test.ledger.documents.open(business, opened, by(writer, NOW));
}

/** The service has refused it, or has signed it. */
async function answered(note: TakeDocumentRequest, status: string): Promise<void> {
  const { number, originalSaleId } = note.of;
  const document = documentOf(number, { type: "credit_note", status, receipt: null, originalSaleId });
  const outcome = { kind: "document", documentId: document.id } as const;
  await documents.settleAnswered({ ...note, outcome, answer: { document, askedAtMs: NOW } });
}

const someBusiness = (): string => `biz_${randomUUID()}`;
const ownerOf = (saleId: string, business: string) => ({
  kind: "number-taken",
  saleId,
  holder: `sale/default/${business}/${saleId} (run 1)`,
});

describe("the number of a credit note", () => {
  it("stays with its sale for another run, a later intent, and after nothing was issued", async () => {
    const business = someBusiness();
    const first = noteOf("sal_1", business);
    await open(first);
    expect(await documents.take(first)).toMatchObject({ kind: "send", first: true });
    const second = { ...first, ...taking(), writer: { ...first.writer, runId: "2" } };
    expect(await documents.take(second)).toMatchObject({ kind: "send", first: false });
    await documents.settle({ ...first, outcome: { kind: "nothing" } });
    expect(await documents.take({ ...first, intent: 2, idempotencyKey: "another" })).toMatchObject({ kind: "send" });
  });

  it("is refused to another sale, without a trace of that sale, and names the sale that has it", async () => {
    const business = someBusiness();
    const [first, second] = [noteOf("sale_INV-1", business), noteOf("sal_2", business)];
    const sold = { type: "sale", number: "INV-1" } as const;
    const answer = { document: documentOf("INV-1"), askedAtMs: NOW };
    await test.ledger.documents.answered(first, sold, answer, first.writer);
    await open(first);
    await documents.take(first);
    await documents.settle({ ...first, outcome: { kind: "unsent" } });
    const owner = { ...ownerOf("sale_INV-1", business), sale: "INV-1" };
    await open(second);
    expect(await documents.take(second)).toEqual(owner);
    expect(await documents.read(second)).toBeUndefined();
  });

  it("is that of the sale whose request leaves first, whichever opened its row last", async () => {
    const business = someBusiness();
    const [first, second] = [noteOf("sal_1", business), noteOf("sal_2", business)];
    for (const note of [first, second]) await open(note);
    expect(await documents.take(first)).toMatchObject({ kind: "send", first: true });
    expect(await documents.take(second)).toEqual(ownerOf("sal_1", business));
    expect((await verified(test.ledger, { ...first, businessId: business })).findings).toEqual([]);
  });

  it("is free in another business, and so is another number in the same business", async () => {
    const business = someBusiness();
    const first = noteOf("sal_1", business);
    const others = [noteOf("sal_2", someBusiness()), noteOf("sal_2", business, "CN-2")];
    for (const note of [first, ...others]) await open(note);
    await documents.take(first);
    for (const free of others) expect(await documents.take(free)).toMatchObject({ kind: "send", first: true });
  });

  it("is given to one of many sales at once, of many processes", async () => {
    const business = someBusiness();
    const notes = Array.from({ length: 20 }, (_, n) => noteOf(`sal_${n}`, business));
    for (const note of notes) await open(note);
    const ledgers = [1, 2, 3].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
    const answers = await Promise.all(notes.map((note, n) => (ledgers[n % 3] ?? test.ledger).documents.take(note)));
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    const owner = answers.findIndex(({ kind }) => kind === "send");
    expect(answers.filter(({ kind }) => kind === "send")).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "number-taken")).toEqual(
      Array.from({ length: 19 }, () => ownerOf(`sal_${owner}`, business)),
    );
  });
});

describe("the live credit note of a sale", () => {
  it("is one: another number waits until that one is refused, or known not to be there", async () => {
    const business = someBusiness();
    const [first, second, third] = ["CN-1", "CN-2", "CN-3"].map((number) => noteOf("sal_1", business, number));
    if (!first || !second || !third) throw new Error("three notes were made");
    for (const note of [first, second, third]) await open(note);
    await documents.take(first);
    expect(await documents.take(second)).toEqual({ kind: "credited-by-another", number: "CN-1" });
    await documents.settle({ ...first, outcome: { kind: "unsent" } });
    expect(await documents.take(second)).toMatchObject({ kind: "send", first: true });
    await answered(second, "failed");
    expect(await documents.take(third)).toMatchObject({ kind: "send", first: true });
    await answered(third, "completed");
    expect(await documents.take(first)).toEqual({ kind: "credited-by-another", number: "CN-3" });
    expect((await verified(test.ledger, { ...first, businessId: business })).findings).toEqual([]);
  });

  it("is the one that appears after an operator said that it was not created", async () => {
    const business = someBusiness();
    const [first, second] = ["CN-1", "CN-2"].map((number) => noteOf("sal_1", business, number));
    if (!first || !second) throw new Error("two notes were made");
    for (const note of [first, second]) await open(note);
    await documents.take(first);
    await documents.decide({ ...first, decision: "not-created", note: "not in the list", atMs: 1 });
    await answered(first, "completed");
    expect(await documents.take(second)).toEqual({ kind: "credited-by-another", number: "CN-1" });
  });

  it("makes another one wait while its own answer is still to be written", async () => {
    const business = someBusiness();
    const [first, second] = ["CN-1", "CN-2"].map((number) => noteOf("sal_1", business, number));
    if (!first || !second) throw new Error("two notes were made");
    for (const note of [first, second]) await open(note);
    await documents.take(first);
    await documents.settle({ ...first, outcome: { kind: "document", documentId: "cn_1" } });
    expect(await documents.take(second)).toMatchObject({ kind: "in-progress" });
    await answered(first, "failed");
    expect(await documents.take(second)).toMatchObject({ kind: "send", first: true });
  });

  it("is one of many numbers at once, of many processes", async () => {
    const business = someBusiness();
    const notes = Array.from({ length: 20 }, (_, n) => noteOf("sal_1", business, `CN-${n}`));
    for (const note of notes) await open(note);
    const ledgers = [1, 2, 3].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
    const answers = await Promise.all(notes.map((note, n) => (ledgers[n % 3] ?? test.ledger).documents.take(note)));
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    const live = answers.findIndex(({ kind }) => kind === "send");
    expect(answers.filter(({ kind }) => kind === "send")).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "credited-by-another")).toEqual(
      Array.from({ length: 19 }, () => ({ kind: "credited-by-another", number: `CN-${live}` })),
    );
  });
});
