import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { creditNoteNumberClaim } from "../../contract/index.ts";
import { openLedger } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import type { BeginRequest, DocumentClaims } from "./claims.ts";
import { taking } from "../test-support/movements.ts";

let test: TestLedger;
let documents: DocumentClaims;
beforeAll(async () => {
  test = await createTestLedger();
  ({ documents } = test.ledger);
});
afterAll(() => test.drop());

/** The credit note of a sale under a number, in a business that no other test has. */
function noteOf(saleId: string, business: string, number = "CN-1"): BeginRequest {
  const workflowId = `sale/default/${business}/${saleId}`;
  const claim = creditNoteNumberClaim({ connection: "default", businessId: business, number });
  return {
    workflowId: `${workflowId} ${number}`,
    intent: 1,
    idempotencyKey: `key-of-${saleId}`,
    content: "fingerprint",
    request: { saleId, number },
    nowMs: 1_700_000_000_000,
    holder: `${workflowId} (run 1)`,
    ...taking(),
    number: { claim, number, saleId, sale: `INV-${saleId} \0\uD800` },
  };
}

const someBusiness = (): string => `biz_${randomUUID()}`;
const ownerOf = (saleId: string, business: string) => ({
  kind: "number-taken",
  saleId,
  sale: expect.stringContaining(`INV-${saleId}`),
  holder: `sale/default/${business}/${saleId} (run 1)`,
});

describe("the number of a credit note", () => {
  it("stays with its sale for another run, a later intent, and after nothing was issued", async () => {
    const business = someBusiness();
    const first = noteOf("sal_1", business);
    expect(await documents.begin(first)).toMatchObject({ kind: "send", first: true });
    expect(await documents.begin({ ...first, ...taking(), holder: "run 2" })).toMatchObject({
      kind: "send",
      first: false,
    });
    await documents.settle({ ...first, outcome: { kind: "nothing" } });
    expect(await documents.begin({ ...first, intent: 2, idempotencyKey: "another" })).toMatchObject({ kind: "send" });
  });

  it("is refused to another sale, without a trace of that sale", async () => {
    const business = someBusiness();
    const [first, second] = [noteOf("sal_1", business), noteOf("sal_2", business)];
    await documents.begin(first);
    await documents.settle({ ...first, outcome: { kind: "unsent" } });
    expect(await documents.begin(second)).toEqual(ownerOf("sal_1", business));
    expect(await documents.read(second.workflowId)).toBeUndefined();
  });

  it("is free in another business, and so is another number in the same business", async () => {
    const business = someBusiness();
    await documents.begin(noteOf("sal_1", business));
    for (const free of [noteOf("sal_2", someBusiness()), noteOf("sal_2", business, "CN-2")])
      expect(await documents.begin(free)).toMatchObject({ kind: "send", first: true });
  });

  it("is given to one of many sales at once, of many processes", async () => {
    const business = someBusiness();
    const ledgers = [1, 2, 3].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (ledgers[n % 3] ?? test.ledger).documents.begin(noteOf(`sal_${n}`, business)),
      ),
    );
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    const owner = answers.findIndex(({ kind }) => kind === "send");
    expect(answers.filter(({ kind }) => kind === "send")).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "number-taken")).toEqual(
      Array.from({ length: 19 }, () => ownerOf(`sal_${owner}`, business)),
    );
  });

  it("does not affect a document that was begun or made before the number was claimed", async () => {
    const business = someBusiness();
    const [begun, made] = [noteOf("sal_1", business), noteOf("sal_2", business)];
    await documents.begin({ ...begun, number: undefined });
    await documents.settle({ ...made, outcome: { kind: "document", documentId: "cn_2" } });
    await documents.begin(noteOf("sal_3", business));
    expect(await documents.begin(begun)).toMatchObject({ kind: "send", first: true });
    expect(await documents.begin(made)).toEqual({ kind: "known", documentId: "cn_2" });
  });
});
