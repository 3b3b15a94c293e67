import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";

import { type BeginRequest, type DocumentClaims, type Ledger, openLedger } from "../index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { taking } from "../test-support/movements.ts";

let test: TestLedger;
let ledgers: Ledger[];
let documents: DocumentClaims;
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
const LATER = NOW + 60_000;

/** The first attempt of a workflow that no other test has. */
function firstAttempt(): BeginRequest {
  const workflowId = `sale/default/biz_1/${randomUUID()}`;
  const intent = { idempotencyKey: "key-of-intent-1", content: "fingerprint", request: { some: "bytes" } };
  return { workflowId, intent: 1, ...intent, nowMs: NOW, holder: "run-1", ...taking() };
}

/** Each request by each process. */
const byAll = <Request, Answer>(
  requests: readonly Request[],
  ask: (claims: DocumentClaims, request: Request, index: number) => Promise<Answer>,
): Promise<Answer[]> =>
  Promise.all(requests.flatMap((request) => ledgers.map((ledger, index) => ask(ledger.documents, request, index))));
const whatOf = async (workflowId: string): Promise<string[]> =>
  (await documents.history(workflowId)).map(({ what }) => what);

it("four processes at once begin each of 40 documents once, each under its number", async () => {
  const requests = Array.from({ length: 40 }, () => {
    const first = firstAttempt();
    const number = { claim: `number/${first.workflowId}`, number: "CN-1", saleId: "sale_1", sale: "INV-1" };
    return { ...first, number };
  });
  const answers = await byAll(requests, (claims, request, index) =>
    claims.begin({ ...request, ...taking(), holder: `run-${index}` }),
  );
  expect(answers.filter((answer) => answer.kind === "send" && answer.first)).toHaveLength(40);
  expect(answers.filter((answer) => answer.kind === "send")).toHaveLength(160);
  for (const { workflowId, number } of requests)
    expect([await whatOf(workflowId), await whatOf(number.claim)]).toEqual([["begun"], ["number-taken"]]);
});

it("a document is settled once for many processes at once, and a different one is reported as contradicted", async () => {
  const requests = Array.from({ length: 20 }, firstAttempt);
  await Promise.all(requests.map((request) => documents.begin(request)));
  const answers = await byAll(requests, (claims, { workflowId }, index) =>
    claims.settle({
      workflowId,
      intent: 1,
      outcome: { kind: "document", documentId: `sale_${index % 2}` },
      nowMs: LATER,
    }),
  );
  expect(answers.filter((answer) => answer === "settled")).toHaveLength(40);
  for (const { workflowId } of requests)
    expect(await whatOf(workflowId)).toEqual(["begun", "document", "contradicted", "contradicted"]);
});

it("a document that is settled stays, while other processes report that nothing was sent", async () => {
  const requests = Array.from({ length: 20 }, firstAttempt);
  await Promise.all(requests.map((request) => documents.begin(request)));
  await byAll(requests, (claims, { workflowId }, index) => {
    const outcome = index === 0 ? ({ kind: "document", documentId: "sale_1" } as const) : { kind: "unsent" as const };
    return claims.settle({ workflowId, intent: 1, outcome, nowMs: LATER });
  });
  for (const { workflowId } of requests) {
    expect(await documents.read(workflowId)).toEqual({ intent: 1, documentId: "sale_1" });
    expect(["begun,document", "begun,unsent,document-after-all"]).toContain((await whatOf(workflowId)).join());
  }
});
