import { expect, test } from "vitest";

import type { Evidence } from "./evidence.ts";
import type { KeptDocument, KeptMovement } from "./kept-ledger.ts";
import { goodEvidence, violated } from "./test-support/good-evidence.ts";

function withKept(
  evidence: Evidence,
  changes: { document?: Partial<KeptDocument>; movement?: Partial<KeptMovement> },
): Evidence {
  const { ledger } = evidence;
  const documents = ledger.documents.map((document) => ({ ...document, ...changes.document }));
  const movements = ledger.movements.map((movement) => ({ ...movement, ...changes.movement }));
  return { ...evidence, ledger: { ...ledger, documents, movements } };
}

const DOCUMENTS_KEPT = "every document of the books is in the ledger as it is";

test.each<[string, Partial<KeptDocument>]>([
  ["of another number", { number: "INV-2" }],
  ["of another type", { type: "credit_note" }],
  ["of another business", { businessId: "biz_2" }],
  ["with another id", { documentId: "sale_other" }],
  ["in another status", { status: "pending" }],
  ["with another total", { total: "700.02" }],
  ["without a document", { documentId: null }],
])("a document that the ledger keeps %s is found", async (_, document) => {
  expect(violated(withKept(await goodEvidence(), { document }))).toEqual([DOCUMENTS_KEPT]);
});

test("a document that only the books or only the ledger has is found", async () => {
  const evidence = await goodEvidence();
  const { ledger } = evidence;
  expect(violated({ ...evidence, ledger: { ...ledger, documents: [] } })).toEqual([DOCUMENTS_KEPT]);
  const [document] = ledger.documents;
  const documents = document ? [document, { ...document, number: "INV-9" }] : [];
  expect(violated({ ...evidence, ledger: { ...ledger, documents } })).toEqual([DOCUMENTS_KEPT]);
});

const MOVEMENTS_KEPT = "every movement that was applied is in the ledger";

test.each<[string, Partial<KeptMovement>]>([
  ["as dropped", { state: "dropped" }],
  ["as another one", { referenceId: "INV-1/item_flour/sold" }],
  ["of another quantity", { quantity: "2.5" }],
  ["in the other direction", { action: "ADD" }],
  ["by another id", { movementId: "mov_other" }],
])("a movement that the ledger keeps %s is found", async (_, movement) => {
  expect(violated(withKept(await goodEvidence(), { movement }))).toEqual([MOVEMENTS_KEPT]);
});

test("a movement that an operator decided as applied, without an id in the ledger, is no finding", async () => {
  expect(violated(withKept(await goodEvidence(), { movement: { movementId: null } }))).toEqual([]);
});

test("findings of `ledger verify`, and a business without events, are found", async () => {
  const evidence = await goodEvidence();
  const { ledger } = evidence;
  const name = "the ledger's events and rows are as they were written";
  const changed = ledger.chains.map((chain) => ({ ...chain, findings: [{ kind: "changed", number: 1 }] }));
  expect(violated({ ...evidence, ledger: { ...ledger, chains: changed } })).toEqual([name]);
  const empty = ledger.chains.map((chain) => ({ ...chain, events: 0 }));
  for (const chains of [[], empty]) expect(violated({ ...evidence, ledger: { ...ledger, chains } })).toEqual([name]);
});
