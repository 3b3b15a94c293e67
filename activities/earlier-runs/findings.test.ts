import { describe, expect, test } from "vitest";

import { findingsOf } from "./findings.ts";
import type { ReadableEvent } from "./readable-history.ts";

const SALE = "sale/default/biz_1/INV-1";
const claim = { generation: 1, token: "one" };
const target = { connection: "default", businessId: "biz_1" };
const movement = {
  ...target,
  referenceId: "INV-1/tea/sold",
  itemId: "tea",
  action: "DEDUCT",
  quantity: 2,
  unitPrice: 350,
  claim,
};
const request = { method: "POST", path: "/v1/sales", query: {}, bodyJson: "{}" };
const sale = { ...target, request, idempotencyKey: "sale:INV-1:0123456789", claim: SALE, intent: 1, content: "{}" };

const scheduled = (eventId: number, activity: string, input: unknown): ReadableEvent => {
  return { kind: "scheduled", eventId, atMs: eventId * 1000, activity, input };
};
const completed = (scheduledEventId: number, result: unknown): ReadableEvent => {
  return { kind: "completed", scheduledEventId, atMs: scheduledEventId * 1000 + 1, result };
};
const said = (name: string, input: unknown): ReadableEvent => ({ kind: "update", name, input, atMs: 9_000 });

const movementsAfter = (...events: ReadableEvent[]) => findingsOf(events).movements;
const documentsAfter = (...events: ReadableEvent[]) => findingsOf(events).documents;

describe("what an earlier run did with a movement", () => {
  const applied = { kind: "applied", movementId: "mov_1", sentAtMs: 5 };

  test("is the service's answer", () => {
    const [found] = movementsAfter(scheduled(5, "adjustStock", movement), completed(5, applied));
    expect(found).toMatchObject({ outcome: applied, request: { referenceId: "INV-1/tea/sold" }, sentAtMs: 5_000 });
  });

  test.each([undefined, null, "done", {}, { kind: 1 }])(
    "is unknown where an operator completed it with %j",
    (result) => {
      const [found] = movementsAfter(scheduled(5, "adjustStock", movement), completed(5, result));
      expect(found).toMatchObject({ outcome: { kind: "unknown" }, sentAtMs: 5_000 });
    },
  );

  test("is left to its claim where the history has no answer", () => {
    expect(movementsAfter(scheduled(5, "adjustStock", movement))).toEqual([]);
  });

  test.each([
    ["put off", { kind: "deferred", message: "429" }],
    ["refused", { kind: "not-applied", refusal: {} }],
    ["known not to be applied", { kind: "superseded", generation: 1 }],
  ])("is nothing where it was %s", (_, result) => {
    expect(movementsAfter(scheduled(5, "adjustStock", movement), completed(5, result))).toEqual([]);
  });

  test("is the operator's decision, until the movement was sent again", () => {
    const answer = { kind: "unknown", message: "", evidence: {} };
    const unknown = [scheduled(5, "adjustStock", movement), completed(5, answer)];
    const word = said("resolveStock", { referenceId: "INV-1/tea/sold", applied: false, note: "counted", by: "Amina" });
    expect(movementsAfter(...unknown, word)).toMatchObject([
      { outcome: { kind: "said", applied: false, word: { note: "counted", by: "Amina", atMs: 9_000 } } },
    ]);
    const again = scheduled(12, "adjustStock", movement);
    expect(movementsAfter(...unknown, word, again, completed(12, answer))).toMatchObject([
      { outcome: { kind: "unknown" } },
    ]);
    expect(movementsAfter(...unknown, word, again, completed(12, applied))).toMatchObject([{ outcome: applied }]);
  });
});

describe("what an earlier run made of its document", () => {
  const doubt = [scheduled(5, "createSale", sale), completed(5, { kind: "unknown", message: "", evidence: {} })];

  test("is the document that the answer shows or names", () => {
    const asked = scheduled(5, "createSale", sale);
    const made = [{ claim: SALE, outcome: { kind: "made", documentId: "sal_1" } }];
    expect(documentsAfter(asked, completed(5, { kind: "document", document: { id: "sal_1" } }))).toMatchObject(made);
    expect(documentsAfter(asked, completed(5, { kind: "named", saleId: "sal_1" }))).toMatchObject(made);
    expect(documentsAfter(asked, completed(5, { kind: "rejected", saleId: "sal_1" }))).toMatchObject(made);
  });

  test("is unknown where an answer was lost, since the first time that something may have been sent", () => {
    const asked = scheduled(5, "createSale", sale);
    expect(documentsAfter(asked, completed(5, { kind: "unknown", message: "", evidence: {} }))).toMatchObject([
      { firstSentAtMs: 5_000, outcome: { kind: "in-doubt" } },
    ]);
    expect(documentsAfter(asked, completed(5, { kind: "refused", firstSentAtMs: 4_000 }))).toMatchObject([
      { firstSentAtMs: 4_000, outcome: { kind: "in-doubt" } },
    ]);
  });

  test("is left to its claim where the history has no answer", () => {
    expect(documentsAfter(scheduled(5, "createSale", sale))).toEqual([]);
  });

  test("is nothing where the request was deferred or refused", () => {
    const asked = scheduled(5, "createSale", sale);
    expect(documentsAfter(asked, completed(5, { kind: "deferred", message: "429" }))).toEqual([]);
    expect(documentsAfter(asked, completed(5, { kind: "rejected", message: "no", repeatable: true }))).toEqual([]);
  });

  test("is the operator's decision", () => {
    const decided = (decision: unknown) => scheduled(9, "decideDocument", { claim: SALE, intent: 1, decision });
    expect(documentsAfter(...doubt, decided({ saleId: "sal_7" }))).toMatchObject([
      { outcome: { kind: "made", documentId: "sal_7" } },
    ]);
    expect(documentsAfter(...doubt, decided("not-created"))).toEqual([]);
  });

  test("stays in doubt while what the operator named has not been looked at", () => {
    const named = said("resolveDocument", { saleId: "sal_typo", note: "seen" });
    expect(documentsAfter(...doubt, named)).toMatchObject([{ outcome: { kind: "in-doubt" } }]);
  });

  test("is kept separately for each number of a credit note", () => {
    const note = { ...sale, claim: "credit-note/default/biz_1/sal_1 CN-1" };
    const found = documentsAfter(
      scheduled(5, "createCreditNote", note),
      completed(5, { kind: "document", document: { id: "cn_1" } }),
    );
    expect(found).toMatchObject([{ claim: "credit-note/default/biz_1/sal_1 CN-1" }]);
  });
});
