import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";

import { type Documents, type DocumentKey, type Ledger, openLedger, type TakeDocumentRequest } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { claimEventsOf } from "../test-support/claim-events.ts";
import { taking } from "../test-support/movements.ts";
import { documentOf } from "../test-support/records.ts";
import { verified } from "../test-support/verified.ts";

let test: TestLedger;
let ledgers: Ledger[];
let documents: Documents;
beforeAll(async () => {
  test = await createTestLedger();
  ({ documents } = test.ledger);
  ledgers = [1, 2, 3, 4].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
});
afterAll(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  await test.drop();
});

const NOW = 1_700_000_000_000;
const BUSINESS = { connection: "default", businessId: "biz_1" };
const run = (index: number) => ({ workflowId: "sale/default/biz_1/some", runId: `run-${index}` });

/** The first attempt of a workflow that no other test has. */
function firstAttempt(): TakeDocumentRequest {
  const of = { type: "sale" as const, number: randomUUID() };
  const intent = { idempotencyKey: "key-of-intent-1", content: "fingerprint", request: { some: "bytes" } };
  return { ...BUSINESS, of, intent: 1, ...intent, nowMs: NOW, writer: run(1), ...taking() };
}

/** Each request by each process. */
const byAll = <Request, Answer>(
  requests: readonly Request[],
  ask: (claims: Documents, request: Request, index: number) => Promise<Answer>,
): Promise<Answer[]> =>
  Promise.all(requests.flatMap((request) => ledgers.map((ledger, index) => ask(ledger.documents, request, index))));
const whatOf = async (key: DocumentKey): Promise<string[]> =>
  (await claimEventsOf(test.outside, key)).map(({ what }) => what);

/** A run opens the row before it takes the claim. */
async function open({ of }: TakeDocumentRequest): Promise<void> {
  const opened = { ...of, stage: "resolving-items", startedAtMs: NOW, date: "2026-11-20" } as const;
  await test.ledger.documents.open(BUSINESS, opened, { writer: run(0), askedAtMs: NOW });
}

it("four processes at once take each of 40 documents once", async () => {
  const requests = Array.from({ length: 40 }, firstAttempt);
  for (const request of requests) await open(request);
  const answers = await byAll(requests, (claims, request, index) =>
    claims.take({ ...request, ...taking(), writer: run(index) }),
  );
  expect(answers.filter((answer) => answer.kind === "send" && answer.first)).toHaveLength(40);
  expect(answers.filter((answer) => answer.kind === "send")).toHaveLength(160);
  for (const request of requests) expect(await whatOf(request)).toEqual(["taken"]);
  expect((await verified(test.ledger, BUSINESS)).findings).toEqual([]);
});

it("many answers at once for one claim are written once, and the last of them stands", async () => {
  const requests = Array.from({ length: 20 }, firstAttempt);
  for (const request of requests) await open(request);
  const taken = new Map(await Promise.all(requests.map(async (one) => [one, await documents.take(one)] as const)));
  const answers = await byAll(requests, (claims, request, index) => {
    const document = documentOf(request.of.number, index === 0 ? {} : { status: "transmitted", receipt: null });
    const answer = { document, askedAtMs: NOW + index };
    const outcome = { kind: "document", documentId: document.id } as const;
    const first = taken.get(request);
    return claims.settleAnswered({
      ...request,
      outcome,
      answer,
      seen: first?.kind === "send" ? first.seen : undefined,
    });
  });
  expect(answers).toHaveLength(80);
  for (const request of requests) {
    expect(await whatOf(request)).toEqual(["taken", "created"]);
    const kept = await test.ledger.documents.findSale(BUSINESS, request.of.number);
    expect(kept?.record.document?.status).toBe("completed");
  }
  expect((await verified(test.ledger, BUSINESS)).findings).toEqual([]);
});

it("a document is settled once for many processes at once, and a different one is reported as contradicted", async () => {
  const requests = Array.from({ length: 20 }, firstAttempt);
  for (const request of requests) await open(request);
  await Promise.all(requests.map((request) => documents.take(request)));
  const answers = await byAll(requests, (claims, request, index) =>
    claims.settle({ ...request, outcome: { kind: "document", documentId: `sale_${index % 2}` } }),
  );
  expect(answers.filter((answer) => answer === "settled")).toHaveLength(40);
  for (const request of requests)
    expect(await whatOf(request)).toEqual(["taken", "created", "contradicted", "contradicted"]);
});

it("a document that is settled stays, while other processes report that nothing was sent", async () => {
  const requests = Array.from({ length: 20 }, firstAttempt);
  for (const request of requests) await open(request);
  await Promise.all(requests.map((request) => documents.take(request)));
  await byAll(requests, (claims, request, index) => {
    const outcome = index === 0 ? ({ kind: "document", documentId: "sale_1" } as const) : { kind: "unsent" as const };
    return claims.settle({ ...request, outcome });
  });
  for (const request of requests) {
    expect(await documents.read(request)).toEqual({ intent: 1, documentId: "sale_1" });
    expect(["taken,created", "taken,unsent,created-after-all"]).toContain((await whatOf(request)).join());
  }
});
