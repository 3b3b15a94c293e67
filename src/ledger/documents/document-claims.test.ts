import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { LedgerError } from "../errors.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import type { TakeDocumentAnswer, TakeDocumentRequest } from "../index.ts";
import type { Documents } from "./documents.ts";
import { claimEventsOf } from "../test-support/claim-events.ts";
import { taking } from "../test-support/movements.ts";
import { documentOf } from "../test-support/records.ts";
import { verified } from "../test-support/verified.ts";

let ledgerOfTest: TestLedger;
let documents: Documents;
beforeAll(async () => {
  ledgerOfTest = await createTestLedger();
  ({ documents } = ledgerOfTest.ledger);
});
afterAll(() => ledgerOfTest.drop());

const NOW = 1_700_000_000_000;
const LATER = NOW + 60_000;
const REQUEST = { z: "first", a: [1, 2.5, "ä \u0000 \ud800"], 10: "kept where it stood", b: null };

/** The first attempt of a workflow that no other test has. */
function firstAttempt(): TakeDocumentRequest {
  return {
    connection: "default",
    businessId: "biz_1",
    of: { type: "sale", number: randomUUID() },
    intent: 1,
    idempotencyKey: "key-of-intent-1",
    content: "fingerprint",
    request: REQUEST,
    nowMs: NOW,
    writer: run("run-1"),
    ...taking(),
  };
}
const run = (runId: string) => ({ workflowId: "sale/default/biz_1/some", runId });
/** As its run does, which has opened the row before. */
async function take(request: TakeDocumentRequest): Promise<TakeDocumentAnswer> {
  const { of, writer } = request;
  const opened = { ...of, stage: "resolving-items", startedAtMs: NOW, date: "2026-11-20" } as const;
  await ledgerOfTest.ledger.documents.openNew(request, opened, { writer, askedAtMs: NOW });
  return await documents.take(request);
}
const again = (first: TakeDocumentRequest): TakeDocumentRequest => ({
  ...first,
  ...taking(),
  nowMs: LATER,
  writer: run("run-2"),
});
const sent = { kind: "send", request: REQUEST, firstSentAtMs: NOW, first: true };

describe("an intent to issue a document that was begun", () => {
  it("repeats the first bytes for every run, and says since when its outcome is unknown", async () => {
    const first = firstAttempt();
    expect(await take(first)).toMatchObject(sent);
    const answer = await take({ ...again(first), request: { other: "bytes" } });
    expect(answer).toMatchObject({ ...sent, first: false });
    expect(answer.kind === "send" && JSON.stringify(answer.request)).toBe(JSON.stringify(REQUEST));
    expect(await documents.read(first)).toEqual({ intent: 1, firstSentAtMs: NOW });
  });

  it("is neither doubtful nor different while an execution may still be at it", async () => {
    const first = { ...firstAttempt(), underWayForMs: 60_000 };
    await take(first);
    const once = { ...again(first), repeatableForMs: 0 };
    const different = { ...again(first), content: "other" };
    for (const one of [once, different])
      expect(await take(one)).toEqual({ kind: "in-progress", forMs: expect.any(Number) });
    await documents.ended({ ...first, execution: "another" });
    expect(await take(once)).toMatchObject({ kind: "in-progress" });
    await documents.ended(first);
    expect(await take(once)).toEqual({ kind: "doubtful", firstSentAtMs: NOW });
    expect(await take(different)).toMatchObject({ kind: "different" });
  });

  it("is lost with the run that took it, whichever run opened the row", async () => {
    const first = { ...firstAttempt(), underWayForMs: 0, writer: run("run-that-takes") };
    const opened = { ...first.of, stage: "resolving-items", startedAtMs: NOW, date: "2026-11-20" } as const;
    await documents.openNew(first, opened, { writer: run("run-that-opens"), askedAtMs: NOW });
    await documents.take(first);
    const lost = await ledgerOfTest.ledger.lostExecutions(NOW);
    expect(lost).toContainEqual(first.writer);
    expect(lost).not.toContainEqual(run("run-that-opens"));
  });

  it("is under way until both of two executions under its key are over", async () => {
    const first = { ...firstAttempt(), underWayForMs: 60_000 };
    await take(first);
    const second = again(first);
    expect(await take(second)).toMatchObject({ ...sent, first: false });
    for (const one of [first, second]) await documents.ended(one);
    expect(await take({ ...again(first), repeatableForMs: 0 })).toMatchObject({ kind: "in-progress" });
  });

  it("is not repeated once the service remembers its key no longer", async () => {
    const first = firstAttempt();
    await take(first);
    expect(await take({ ...again(first), repeatableForMs: LATER - NOW })).toMatchObject({ kind: "send" });
    const late = { ...again(first), repeatableForMs: LATER - NOW - 1 };
    expect(await take(late)).toEqual({ kind: "doubtful", firstSentAtMs: NOW });
  });

  it("counts as first again for the same call whose answer from the ledger was lost", async () => {
    const first = firstAttempt();
    await take(first);
    expect(await take(first)).toMatchObject(sent);
  });

  it("refuses other content and a later intent while its outcome is unknown", async () => {
    const first = firstAttempt();
    await take(first);
    const different = { kind: "different", firstSentAtMs: NOW };
    expect(await take({ ...again(first), content: "other" })).toEqual(different);
    expect(await take({ ...again(first), intent: 2, idempotencyKey: "key-of-intent-2" })).toEqual(different);
  });

  it("refuses a key where the first was sent without one, and the reverse", async () => {
    const different = { kind: "different", firstSentAtMs: NOW };
    for (const [before, after] of [
      [undefined, "key-of-intent-1"],
      ["key-of-intent-1", undefined],
    ]) {
      const first = { ...firstAttempt(), idempotencyKey: before };
      expect(await take(first)).toMatchObject(sent);
      expect(await take({ ...again(first), idempotencyKey: after })).toEqual(different);
      expect(await take(again(first))).toMatchObject({ kind: "send", first: false });
    }
  });

  it("refuses another key, under which it could become a second document", async () => {
    const first = firstAttempt();
    await take(first);
    await expect(take({ ...again(first), idempotencyKey: "another" })).rejects.toThrow(LedgerError);
  });

  it("accepts other bytes once it is known that nothing was sent", async () => {
    const first = firstAttempt();
    await take(first);
    for (const _time of [1, 2])
      expect(await documents.settle({ ...first, outcome: { kind: "unsent" } })).toBe("settled");
    expect(await documents.read(first)).toEqual({ intent: 1 });
    const changed = { ...again(first), content: "other", request: { other: "bytes" } };
    expect(await take(changed)).toMatchObject({
      kind: "send",
      request: changed.request,
      firstSentAtMs: LATER,
      first: true,
    });
  });

  it("stays in doubt where one of two executions says that it has sent nothing", async () => {
    const first = { ...firstAttempt(), underWayForMs: 60_000 };
    await take(first);
    const second = again(first);
    expect(await take(second)).toMatchObject({ kind: "send", first: false });
    for (const { execution } of [first, second])
      await documents.settle({ ...first, outcome: { kind: "unsent", execution } });
    expect(await documents.read(first)).toEqual({ intent: 1, firstSentAtMs: NOW });
    await documents.settle({ ...first, outcome: { kind: "unsent" } });
    expect(await documents.read(first)).toEqual({ intent: 1 });
  });

  it("is free where the first execution to take it sent nothing, and not where a later one says so", async () => {
    const unsent = ({ execution, nowMs: takenAtMs }: TakeDocumentRequest) =>
      ({ kind: "unsent", execution, takenAtMs }) as const;
    const first = firstAttempt();
    await take(first);
    const second = again(first);
    expect(await take(second)).toMatchObject({ kind: "send", first: false });
    await documents.settle({ ...first, outcome: unsent(second) });
    expect(await documents.read(first)).toEqual({ intent: 1, firstSentAtMs: NOW });

    const other = firstAttempt();
    await take(other);
    await documents.settle({ ...other, outcome: unsent(other) });
    expect(await documents.read(other)).toEqual({ intent: 1 });
    expect(await take(again(other))).toMatchObject({ ...sent, firstSentAtMs: LATER });
  });

  it("is not taken any more by a statement that comes late", async () => {
    const late = firstAttempt();
    const { of, writer, execution } = late;
    const opened = { ...of, stage: "resolving-items", startedAtMs: NOW, date: "2026-11-20" } as const;
    await ledgerOfTest.ledger.documents.openNew(late, opened, { writer, askedAtMs: NOW });
    for (const _time of [1, 2])
      await documents.settle({ ...late, outcome: { kind: "unsent", execution, takenAtMs: NOW } });
    const { rows } = await ledgerOfTest.outside.query("select claim, intent from documents where number = $1", [
      of.number,
    ]);
    expect(rows).toEqual([{ claim: "unsent", intent: 1 }]);
    expect(await take(again(late))).toMatchObject({ ...sent, firstSentAtMs: LATER });
  });

  it("is closed where its sale is given up before anything was sent, and not where it may be out", async () => {
    const first = firstAttempt();
    const { of, writer } = first;
    const opened = { ...of, stage: "resolving-items", startedAtMs: NOW, date: "2026-11-20" } as const;
    await ledgerOfTest.ledger.documents.openNew(first, opened, { writer, askedAtMs: NOW });
    expect(await documents.closeUnlessSent(first)).toBe(false);
    // Of a worker that stood still.
    expect(await documents.take(first)).toEqual({ kind: "behind", intent: 1 });
    const next = { ...again(first), intent: 2 };
    expect(await documents.take(next)).toMatchObject({ kind: "send", first: true });
    await documents.settle({ ...next, outcome: { kind: "unsent" } });
    expect(await documents.closeUnlessSent(first)).toBe(false);
    for (const intent of [2, 3]) expect(await documents.take({ ...next, intent })).toMatchObject({ kind: "behind" });
    const last = { ...again(first), intent: 4 };
    expect(await documents.take(last)).toMatchObject({ kind: "send", first: true });
    expect(await documents.closeUnlessSent(first)).toBe(true);
    expect(await documents.read(first)).toMatchObject({ intent: 4, firstSentAtMs: LATER });
  });

  it("is followed by the next intent once it is known that nothing was sent", async () => {
    const first = firstAttempt();
    await take(first);
    await documents.settle({ ...first, outcome: { kind: "unsent" } });
    expect(await take({ ...again(first), intent: 5 })).toMatchObject({ kind: "send", first: true });
    expect(await take(first)).toEqual({ kind: "behind", intent: 4 });
  });

  it("that created nothing is superseded by the next", async () => {
    const first = firstAttempt();
    await take(first);
    for (const _time of [1, 2]) await documents.settle({ ...first, outcome: { kind: "nothing" } });
    expect(await take(again(first))).toEqual({ kind: "behind", intent: 1 });
    const next = { ...again(first), intent: 2, idempotencyKey: "key-of-intent-2", content: "other" };
    expect(await take(next)).toMatchObject({ ...sent, firstSentAtMs: LATER });
    expect(await take(first)).toEqual({ kind: "behind", intent: 1 });
    expect(await documents.settle({ ...first, outcome: { kind: "nothing" } })).toBe("settled");
    expect(await documents.read(first)).toEqual({ intent: 2, firstSentAtMs: LATER });
  });

  it("is given to one of many first attempts at once, with the same bytes for all", async () => {
    const first = firstAttempt();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        take({ ...first, ...taking(), writer: run(`run-${index}`), request: { from: index } }),
      ),
    );
    expect(answers.filter((answer) => answer.kind === "send" && answer.first)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.kind === "send" && JSON.stringify(answer.request))).size).toBe(1);
  });
});

it("a document whose row is gone is not sent: nobody knows what was", async () => {
  const first = firstAttempt();
  for (const attempt of [first, again(first)]) expect(await documents.take(attempt)).toEqual({ kind: "not-known" });
  expect(await documents.read(first)).toEqual({ intent: 1, firstSentAtMs: NOW });
  await documents.decide({ ...first, decision: "not-created", note: "the API has none", atMs: LATER });
  expect(await documents.take({ ...first, intent: 2, idempotencyKey: "key-of-intent-2" })).toMatchObject({
    kind: "send",
    first: true,
  });
  expect((await verified(ledgerOfTest.ledger, { connection: "default", businessId: "biz_1" })).findings).toEqual([]);
});

it("a document that the row has is known, where the database has lost its claim", async () => {
  const first = firstAttempt();
  const document = documentOf(first.of.number);
  await ledgerOfTest.ledger.documents.answered(first, first.of, { document, askedAtMs: NOW }, first.writer);
  expect(await documents.take(first)).toEqual({ kind: "known", documentId: document.id });
});

describe("the claim of a document that exists", () => {
  it("answers every intent with the document, for good", async () => {
    const first = firstAttempt();
    await take(first);
    const settle = (outcome: Parameters<Documents["settle"]>[0]["outcome"]) => documents.settle({ ...first, outcome });
    expect(await settle({ kind: "document", documentId: "sale_1" })).toBe("settled");
    expect(await settle({ kind: "document", documentId: "sale_1" })).toBe("settled");
    await settle({ kind: "nothing" });
    await settle({ kind: "unsent" });
    for (const _time of [1, 2]) expect(await settle({ kind: "document", documentId: "sale_2" })).toBe("contradicted");
    const { workflowId } = first.writer;
    expect(await documents.contradicted(30)).toMatchObject([{ workflowId, recorded: "sale_1", reported: "sale_2" }]);
    for (const intent of [1, 2])
      expect(await take({ ...again(first), intent })).toEqual({ kind: "known", documentId: "sale_1" });
    expect(await documents.read(first)).toEqual({ intent: 1, documentId: "sale_1" });
    const told = await claimEventsOf(ledgerOfTest.outside, first);
    expect(told.map(({ what }) => what)).toEqual(["taken", "created", "contradicted", "contradicted"]);
    expect(told.at(-1)?.detail).toMatchObject({ documentId: "sale_2", recorded: "sale_1" });
  });

  it("keeps a document that appears after it was settled as nothing, or was never begun", async () => {
    const [late, found] = [firstAttempt(), firstAttempt()];
    await take(late);
    await documents.settle({ ...late, outcome: { kind: "nothing" } });
    const outcome = { kind: "document", documentId: "sale_1" } as const;
    for (const attempt of [late, found]) {
      expect(await documents.settle({ ...attempt, outcome })).toBe("settled");
      expect(await take(attempt)).toEqual({ kind: "known", documentId: "sale_1" });
    }
    expect((await claimEventsOf(ledgerOfTest.outside, late)).at(-1)?.what).toBe("created-after-all");
  });

  it("cannot be settled as nothing, nor read, where nothing was begun", async () => {
    const first = firstAttempt();
    await documents.settle({ ...first, outcome: { kind: "nothing" } });
    expect(await documents.read(first)).toBeUndefined();
    expect(await claimEventsOf(ledgerOfTest.outside, first)).toEqual([]);
  });
});

test.each([
  ["a document", { kind: "document", documentId: "sale_1" }],
  ["nothing", { kind: "nothing" }],
  ["nothing sent", { kind: "unsent" }],
] as const)("the stored bytes of a request are deleted once it is known to have made %s", async (_what, outcome) => {
  const first = firstAttempt();
  const kept = async () => {
    const query = "select request from documents where number = $1";
    const { rows } = await ledgerOfTest.outside.query(query, [first.of.number]);
    return rows;
  };
  await take(first);
  expect(await kept()).toEqual([{ request: JSON.stringify(REQUEST) }]);
  await documents.settle({ ...first, outcome });
  expect(await kept()).toEqual([{ request: null }]);
});

describe("an operator's decision", () => {
  const NOTE = { note: "seen in the service's own list", by: "amina", atMs: LATER };
  const told = (decision: { saleId: string } | "not-created"): object => ({
    decision,
    note: NOTE.note,
    by: "amina",
    atMs: LATER,
  });

  it("that it exists makes it known", async () => {
    const [begun, fresh] = [firstAttempt(), firstAttempt()];
    await take(begun);
    for (const attempt of [begun, begun, fresh])
      await documents.decide({ ...attempt, decision: { saleId: "sale_9" }, ...NOTE });
    for (const attempt of [begun, fresh])
      expect(await take(attempt)).toEqual({
        kind: "known",
        documentId: "sale_9",
        decision: told({ saleId: "sale_9" }),
      });
    expect(await claimEventsOf(ledgerOfTest.outside, begun)).toHaveLength(2);
    const { rows } = await ledgerOfTest.outside.query("select request from documents where number = $1", [
      begun.of.number,
    ]);
    expect(rows).toEqual([{ request: null }]);
  });

  it("that it was not created allows the next intent", async () => {
    const first = firstAttempt();
    await take(first);
    for (const atMs of [LATER, LATER + 1]) await documents.decide({ ...first, ...NOTE, decision: "not-created", atMs });
    expect(await take(first)).toEqual({ kind: "behind", intent: 1, decision: told("not-created") });
    expect(await take({ ...first, intent: 2 })).toMatchObject(sent);
    expect(await documents.read(first)).toEqual({ intent: 2, firstSentAtMs: NOW });
  });

  it("counts before anything was begun too", async () => {
    const first = firstAttempt();
    await documents.decide({ ...first, decision: "not-created", ...NOTE });
    expect(await take(first)).toMatchObject({ kind: "behind", intent: 1 });
  });

  it("does not undo a known document, nor close a newer intent, and is recorded as an event", async () => {
    const [known, newer] = [firstAttempt(), firstAttempt()];
    await take(known);
    await documents.settle({ ...known, outcome: { kind: "document", documentId: "sale_1" } });
    for (const decision of ["not-created", { saleId: "sale_2" }] as const)
      await documents.decide({ ...known, decision, ...NOTE });
    expect(await documents.read(known)).toEqual({ intent: 1, documentId: "sale_1" });
    await take({ ...newer, intent: 2 });
    await documents.decide({ ...newer, decision: "not-created", ...NOTE });
    expect(await documents.read(newer)).toEqual({ intent: 2, firstSentAtMs: NOW });
    const events = await Promise.all([known, newer].map((key) => claimEventsOf(ledgerOfTest.outside, key)));
    expect(events.flat().filter(({ what }) => what === "decision-refused")).toHaveLength(3);
  });
});

it("a document claim refuses an invalid intent, and a body that is not JSON", async () => {
  await expect(take({ ...firstAttempt(), intent: -1 })).rejects.toThrow(LedgerError);
  await expect(take({ ...firstAttempt(), request: undefined })).rejects.toThrow(LedgerError);
});
