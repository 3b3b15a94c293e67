import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import {
  type DocumentKey,
  type Ledger,
  LedgerUnavailableError,
  type MovementKey,
  openLedger,
  type TakeDocumentRequest,
} from "./index.ts";
import { claimEventsOf, movementEventsOf } from "./test-support/claim-events.ts";
import type { TestLedger } from "./test-support/create-test-ledger.ts";
import { APPLIED, firstTry, NOT_APPLIED, taking } from "./test-support/movements.ts";
import { by, documentOf, someBusiness, WRITER } from "./test-support/records.ts";
import { openWatchedLedger, type WatchedLedger } from "./test-support/watched-ledger.ts";
import type { WatchedLine } from "./test-support/watched-line.ts";
import { verified } from "./test-support/verified.ts";

let watched: WatchedLedger;
let test: TestLedger;
let line: WatchedLine;
let ledger: Ledger;
beforeAll(async () => {
  watched = await openWatchedLedger();
  ({ line, ledger, test } = watched);
});
afterAll(() => watched?.close());
beforeEach(() => {
  line.statements.length = 0;
});

/** How often a statement of that kind was sent, the one whose answer was lost among them. */
const sent = (kind: RegExp): number => line.statements.filter((statement) => kind.test(statement)).length;

describe("a movement whose answer from the ledger was lost after it was written", () => {
  const CLAIM = /^\s*with written/;
  const whatOf = async (key: MovementKey): Promise<string[]> =>
    (await movementEventsOf(test.outside, key)).map(({ what }) => what);

  it("is taken, once", async () => {
    const first = firstTry();
    line.loseAnswerTo(CLAIM);
    expect(await ledger.stock.take(first)).toEqual({ kind: "taken" });
    expect(sent(CLAIM)).toBe(3);
    expect(await ledger.stock.take({ ...first, token: randomUUID() })).toMatchObject({ kind: "unknown" });
    expect(await whatOf(first)).toEqual(["taken"]);
  });

  it.each([APPLIED, NOT_APPLIED])("is settled as $kind, once", async (outcome) => {
    const first = firstTry();
    await ledger.stock.take(first);
    line.loseAnswerTo(CLAIM);
    expect(await ledger.stock.settle({ ...first, outcome })).toBe("settled");
    expect(sent(CLAIM)).toBe(3);
    expect(await whatOf(first)).toEqual(["taken", `settled-${outcome.kind}`]);
  });
});

describe("a document whose answer from the ledger was lost after it was written", () => {
  const CLAIM = /^\s*with (written|seen)/;
  const COMMIT = /^commit$/;
  const whatOf = async (key: DocumentKey): Promise<string[]> =>
    (await claimEventsOf(test.outside, key)).map(({ what }) => what);

  /** Of a row that its run has opened. */
  async function firstAttempt(): Promise<TakeDocumentRequest> {
    const of = { type: "sale", number: randomUUID() } as const;
    const opened = { ...of, stage: "resolving-items", startedAtMs: 1, date: "2026-11-20" } as const;
    const business = someBusiness();
    await ledger.documents.open(business, opened, by(WRITER));
    line.statements.length = 0;
    return {
      ...business,
      of,
      intent: 1,
      idempotencyKey: "key",
      content: "fingerprint",
      request: { some: "bytes" },
      nowMs: 1_700_000_000_000,
      writer: WRITER,
      ...taking(),
    };
  }

  it("is taken for the first time, once", async () => {
    const first = await firstAttempt();
    line.loseAnswerTo(CLAIM);
    const answer = { kind: "send", request: first.request, firstSentAtMs: first.nowMs, first: true };
    expect(await ledger.documents.take(first)).toEqual(answer);
    expect(sent(CLAIM)).toBe(2);
    expect(await whatOf(first)).toEqual(["taken"]);
  });

  it("is not the first one where it takes over from an earlier one, which may be out", async () => {
    const first = await firstAttempt();
    await ledger.documents.take(first);
    await ledger.documents.ended(first);
    const next = { ...first, ...taking(), nowMs: first.nowMs + 1, repeatableForMs: 86_400_000 };
    // The first commit is of the statement that finds the claim taken.
    line.loseAnswerTo(COMMIT, 1);
    expect(await ledger.documents.take(next)).toMatchObject({ kind: "send", firstSentAtMs: first.nowMs, first: false });
  });

  it.each([
    [{ kind: "document", documentId: "sale_1" }, "created"],
    [{ kind: "nothing" }, "not-created"],
    [{ kind: "unsent" }, "unsent"],
  ] as const)("is settled once as %o", async (outcome, what) => {
    const first = await firstAttempt();
    await ledger.documents.take(first);
    line.loseAnswerTo(COMMIT);
    expect(await ledger.documents.settle({ ...first, outcome })).toBe("settled");
    expect(sent(COMMIT)).toBe(3);
    expect(await whatOf(first)).toEqual(["taken", what]);
  });

  it("is settled once with the service's answer", async () => {
    const first = await firstAttempt();
    const taken = await ledger.documents.take(first);
    const document = documentOf(first.of.number);
    const settlement = { ...first, outcome: { kind: "document", documentId: document.id } } as const;
    line.loseAnswerTo(CLAIM);
    const seen = taken.kind === "send" ? taken.seen : undefined;
    await ledger.documents.settleAnswered({ ...settlement, answer: { document, askedAtMs: 1 }, seen });
    expect(sent(CLAIM)).toBe(3);
    expect(await whatOf(first)).toEqual(["taken", "created"]);
    const { rows } = await test.outside.query("select kind from events where business_id = $1 order by number", [
      first.businessId,
    ]);
    expect(rows.map(({ kind }) => kind)).toEqual([
      "document-saved",
      "document-taken",
      "document-created",
      "document-saved",
    ]);
  });
});

describe("a document's row whose answer from the ledger was lost after the commit", () => {
  it("is kept once", async () => {
    const business = someBusiness();
    const row = { type: "sale", number: "INV-1" } as const;
    const asked = { ...row, stage: "resolving-items", startedAtMs: 1, date: "2026-11-20" } as const;
    line.loseAnswerTo(/insert into "documents"/);
    expect(await ledger.documents.openNew(business, asked, by(WRITER))).toBe(false);
    expect(sent(/insert into "documents"/)).toBe(2);
    line.statements.length = 0;
    line.loseAnswerTo(/^commit/);
    await ledger.documents.open(business, asked, by(WRITER));
    expect(sent(/^commit/)).toBe(2);
    line.loseAnswerTo(/^commit/);
    await ledger.documents.answered(business, row, { document: documentOf("INV-1"), askedAtMs: 1 }, WRITER);
    const { rows } = await test.outside.query("select kind from events where business_id = $1", [business.businessId]);
    expect(rows).toEqual([{ kind: "document-saved" }, { kind: "document-saved" }]);
    expect((await verified(ledger, business)).findings).toEqual([]);
  });
});

it("a statement ends with the operation that waits for it, so that nothing is written later", async () => {
  const first = firstTry();
  const hasty = openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 500 });
  await hasty.stock.take(first);
  await test.outside.query("begin");
  await test.outside.query("select from movements where reference_id = $1 for update", [first.referenceId]);
  await expect(hasty.stock.settle({ ...first, outcome: APPLIED })).rejects.toThrow(LedgerUnavailableError);
  const waiting = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await expect.poll(async () => (await test.outside.query(waiting)).rows).toEqual([]);
  await test.outside.query("rollback");
  expect(await hasty.stock.read(first)).toMatchObject({ kind: "unknown" });
  await hasty.close();
});
