import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { LedgerUnavailableError, openLedger, type Place, type TakeDocumentRequest, type TakeRequest } from "./index.ts";
import { movementEventsOf } from "./test-support/claim-events.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";
import { firstTry, NOT_APPLIED, taking } from "./test-support/movements.ts";
import { verified } from "./test-support/verified.ts";

let test: TestLedger;
beforeAll(async () => {
  test = await createTestLedger();
});
afterAll(() => test.drop());

describe("a ledger that is not as it was left", () => {
  /** A worker's, which has seen this much of it. */
  function worker(seen?: Place) {
    const state = { seen };
    const ledger = openLedger({ url: test.url, home: "/nowhere", seen: async () => state.seen });
    onTestFinished(() => ledger.close());
    return { ledger, state };
  }
  const takes = (ledger: TestLedger["ledger"]) => ledger.stock.take(firstTry());

  it("is used where nothing was seen of it, or less than it has", async () => {
    const { events, ...place } = await test.ledger.place();
    for (const seen of [undefined, { ...place, events }, { ...place, events: 0 }])
      expect(await takes(worker(seen).ledger)).toEqual({ kind: "taken" });
  });

  it.each([
    ["with fewer events", (place: Place) => ({ ...place, events: place.events + 1 }), "was restored from a backup"],
    ["on another server than the workers use", (place: Place) => ({ ...place, server: "7/1" }), "than the workers use"],
    ["of other tables", (place: Place) => ({ ...place, ledger: randomUUID() }), "is not the one that"],
  ])("is not used %s", async (_how, seenOf, why) => {
    await takes(worker().ledger);
    const { ledger } = worker(seenOf(await test.ledger.place()));
    await expect(ledger.ready()).rejects.toThrow(why);
    await expect(takes(ledger)).rejects.toThrow(LedgerUnavailableError);
    await expect(takes(ledger)).rejects.toThrow("`fiscalflow ledger restored`");
  });

  it("is not used on another server, or another timeline, until somebody accepts it", async () => {
    await takes(worker().ledger);
    await test.outside.query("update ledger_place set server = '7000000000000000000/1'");
    const { ledger } = worker();
    await expect(takes(ledger)).rejects.toThrow(/is on another server, or another timeline .*\(\d+\/1, and was 7000/);
    // Readers read it.
    expect((await test.ledger.place()).knownServer).toBe("7000000000000000000/1");
    const accepted = await test.ledger.acceptPlace();
    expect(accepted).toMatchObject({ knownServer: accepted.server });
    expect(accepted).not.toHaveProperty("lostUntilMs");
    expect(await takes(ledger)).toEqual({ kind: "taken" });
  });

  it("is used on a server that does not say which it is, by the rest", async () => {
    await test.outside.query("update ledger_place set server = 'unknown'");
    const { events, ...place } = await test.ledger.place();
    expect(await takes(worker({ ...place, events }).ledger)).toEqual({ kind: "taken" });
    await expect(takes(worker({ ...place, events: events + 5 }).ledger)).rejects.toThrow("was restored from a backup");
    await test.ledger.acceptPlace();
  });

  it("is not used while somebody says what it has lost, however much is written to it meanwhile", async () => {
    const place = await test.ledger.place();
    const { ledger } = worker({ ...place, events: place.events + 1 });
    await expect(takes(ledger)).rejects.toThrow("was restored from a backup");
    await test.ledger.holdPlace(1_700_000_000_000);
    for (let n = 0; n < 2; n += 1) await takes(test.ledger);
    await expect(takes(ledger)).rejects.toThrow("`fiscalflow ledger restored` is still at work, or has ended early");
    expect(await test.ledger.place()).toMatchObject({ server: place.server, lostFromMs: 1_700_000_000_000 });
    await test.ledger.acceptPlace();
    expect(await takes(ledger)).toEqual({ kind: "taken" });
    expect(await test.ledger.place()).toMatchObject({ lostFromMs: 1_700_000_000_000 });
  });

  it("is noticed on connections that stay open once it is looked at anew", async () => {
    const { ledger, state } = worker();
    await takes(ledger);
    const place = await test.ledger.place();
    state.seen = { ...place, events: place.events + 1 };
    ledger.recheck();
    await expect(takes(ledger)).rejects.toThrow("was restored from a backup");
    state.seen = place;
    expect(await takes(ledger)).toEqual({ kind: "taken" });
  });

  it("is noticed by a connection that is made anew", async () => {
    const { ledger, state } = worker();
    await takes(ledger);
    const place = await test.ledger.place();
    state.seen = { ...place, events: place.events + 1 };
    const mend = await test.cut();
    await mend();
    await expect(takes(ledger)).rejects.toThrow("was restored from a backup");
  });
});

describe("after a restore that may have lost claims", () => {
  const LOST_UNTIL_MS = 1_700_000_100_000;
  let restored: TestLedger;
  beforeAll(async () => {
    restored = await createTestLedger();
  });
  beforeEach(() => restored.ledger.acceptPlace(LOST_UNTIL_MS));
  afterAll(() => restored.drop());

  const BUSINESS = { connection: "default", businessId: "biz_1" };
  const before = (request: TakeRequest): TakeRequest => ({ ...request, scheduledAtMs: LOST_UNTIL_MS - 1 });
  const after = (request: TakeRequest): TakeRequest => ({ ...request, scheduledAtMs: LOST_UNTIL_MS + 1 });
  /** Of a document that is sent without a key, asked for before the database was lost. */
  function oldStep(number: string = randomUUID()): TakeDocumentRequest {
    return {
      ...BUSINESS,
      of: { type: "sale", number },
      intent: 1,
      idempotencyKey: undefined,
      content: "fingerprint",
      request: {},
      nowMs: LOST_UNTIL_MS + 1,
      writer: { workflowId: `sale/default/biz_1/${number}`, runId: "run-1" },
      ...taking(),
      scheduledAtMs: LOST_UNTIL_MS - 1,
      repeatableForMs: 0,
    };
  }
  async function openRow({ of, writer }: TakeDocumentRequest): Promise<void> {
    const opened = { ...of, stage: "resolving-items", startedAtMs: 0, date: "2026-11-29" } as const;
    await restored.ledger.documents.openNew(BUSINESS, opened, { writer, askedAtMs: 0 });
  }
  const LOST = { kind: "unknown", generation: 1, message: expect.stringContaining("was restored") };

  it("a movement without a claim is unknown, if its step is older", async () => {
    const { stock } = restored.ledger;
    expect(await stock.take(after(firstTry()))).toEqual({ kind: "taken" });
    const old = before(firstTry());
    const owed = await restored.ledger.fleet.owedAnswers();
    expect(await stock.take(old)).toMatchObject(LOST);
    // Its workflow asks for it: the ledger is not owed an answer for ever.
    expect(await restored.ledger.fleet.owedAnswers()).toEqual(owed);
    // Also when it is asked again, and for a step that comes later.
    expect(await stock.take({ ...old, ...taking(), scheduledAtMs: LOST_UNTIL_MS + 1 })).toMatchObject(LOST);
    expect(await stock.readOrClose({ ...old, sinceMs: LOST_UNTIL_MS - 1 })).toMatchObject(LOST);
    expect((await movementEventsOf(restored.outside, old)).map(({ what }) => what)).toEqual(["taken"]);
    const decision = { applied: false, note: "not in the journal", by: "Jane", atMs: LOST_UNTIL_MS };
    expect(await stock.decide({ ...old, decision })).toMatchObject({ kind: "superseded" });
    expect(await stock.take(after({ ...old, ...taking(), generation: 2, token: randomUUID() }))).toEqual({
      kind: "taken",
    });
    expect((await verified(restored.ledger, BUSINESS)).findings).toEqual([]);
  });

  it("one that was refused before is unknown too, in its next generation", async () => {
    const { stock, acceptPlace } = restored.ledger;
    const first = after(firstTry());
    await stock.take(first);
    await stock.settle({ ...first, outcome: NOT_APPLIED });
    // What is in the backup was written before it.
    const lostUntilMs = Date.now() + 60_000;
    await acceptPlace(lostUntilMs);
    const next = { ...first, ...taking(), generation: 2, token: randomUUID(), scheduledAtMs: lostUntilMs - 1 };
    expect(await stock.take(next)).toMatchObject({ ...LOST, generation: 2 });
    expect((await verified(restored.ledger, BUSINESS)).findings).toEqual([]);
  });

  it("nothing is closed that may have been sent, and the run is told so", async () => {
    const { stock } = restored.ledger;
    const old = firstTry();
    for (const sinceMs of [undefined, LOST_UNTIL_MS - 1])
      expect(await stock.readOrClose({ ...old, sinceMs })).toMatchObject({
        kind: "unknown",
        message: expect.stringContaining("restored"),
      });
    expect(await stock.take(before(old))).toMatchObject(LOST);
  });

  it("one that its run has put off each time is closed, since that run knows that it never left", async () => {
    const putOff = { generation: 1, token: "token", unsent: ["execution"] };
    const asked = { ...firstTry(), nowMs: LOST_UNTIL_MS + 1, sinceMs: LOST_UNTIL_MS - 1, putOff };
    expect(await restored.ledger.stock.readOrClose(asked)).toMatchObject({ kind: "superseded" });
  });

  it("what was asked for later is closed, so that a late attempt of it sends nothing", async () => {
    const { stock } = restored.ledger;
    const late = after(firstTry());
    expect(await stock.readOrClose({ ...late, sinceMs: LOST_UNTIL_MS + 1 })).toMatchObject({ kind: "superseded" });
    expect(await stock.take(late)).toMatchObject({ kind: "superseded" });
  });

  it("a claim that another execution held is not free for the next one", async () => {
    const { stock, acceptPlace } = restored.ledger;
    const first = after(firstTry());
    await stock.take(first);
    const lostUntilMs = Date.now() + 60_000;
    await acceptPlace(lostUntilMs);
    const next = { ...first, ...taking(), unsent: [first.execution], scheduledAtMs: lostUntilMs - 1 };
    expect(await stock.take(next)).toMatchObject({ kind: "unknown" });
    expect(await stock.take({ ...next, scheduledAtMs: lostUntilMs + 1 })).toEqual({ kind: "taken" });
  });

  it("a movement of a run that carries on an older one is unknown, however late its step", async () => {
    const { stock, documents } = restored.ledger;
    const now = Date.now();
    const number = randomUUID();
    const opened = { type: "sale", number, stage: "resolving-items", startedAtMs: now, date: "2026-11-29" } as const;
    const run = (runId: string) => ({ workflowId: `sale/default/biz_1/${number}`, runId });
    await documents.open(BUSINESS, opened, { writer: run("run-1"), askedAtMs: now });
    await restored.ledger.acceptPlace(now + 60_000);
    const request = {
      ...firstTry(),
      of: { type: "sale", number, purpose: "sold" } as const,
      scheduledAtMs: now + 120_000,
    };
    const carriedOn = { ...request, writer: run("run-2") };
    // Its worker may die before it asks for the claim: nothing is closed, and no next generation begins.
    const asked = { ...carriedOn, sinceMs: request.scheduledAtMs };
    expect(await stock.readOrClose(asked)).toMatchObject({ kind: "unknown" });
    expect(await stock.take(carriedOn)).toMatchObject(LOST);
    expect(await stock.take({ ...request, referenceId: randomUUID(), writer: run("run-1") })).toEqual({
      kind: "taken",
    });
    // What a person has said since then holds: the next generation leaves.
    const decision = { applied: false, note: "not in the journal", by: "Jane", atMs: now };
    await stock.decide({ ...carriedOn, decision });
    const next = { ...carriedOn, ...taking(), scheduledAtMs: now + 120_000, generation: 2 };
    await restored.ledger.acceptPlace(now);
    expect(await stock.take(next)).toEqual({ kind: "taken" });
  });

  it("a movement of a sale whose row was lost is unknown to the run that carries it on", async () => {
    const { stock, documents } = restored.ledger;
    const number = randomUUID();
    const writer = { workflowId: `sale/default/biz_1/${number}`, runId: "run-2" };
    const opened = { type: "sale", number, stage: "resolving-items", startedAtMs: 0, date: "2026-11-29" } as const;
    await documents.open(BUSINESS, opened, { writer, askedAtMs: 0, inDoubt: true });
    const request = { ...firstTry(), of: { type: "sale", number, purpose: "sold" } as const, writer };
    expect(await stock.take({ ...request, scheduledAtMs: Date.now() + 600_000 })).toMatchObject(LOST);
  });

  it.each([
    ["is doubtful without a key", 0, { kind: "doubtful" }],
    ["is sent again under its key", 86_400_000, { kind: "send", first: false }],
  ])("a document without a claim %s, if its step is older", async (_how, repeatableForMs, answer) => {
    const { documents } = restored.ledger;
    const request = { ...oldStep(), repeatableForMs, ...(repeatableForMs > 0 && { idempotencyKey: "key" }) };
    await openRow(request);
    expect(await documents.take(request)).toMatchObject({ ...answer, firstSentAtMs: LOST_UNTIL_MS - 1 });
    expect((await verified(restored.ledger, BUSINESS)).findings).toEqual([]);
  });

  it.each([
    ["whose row was lost too", false],
    ["whose row was there", true],
  ])("a document %s, and of which a person says that it was not created, is sent", async (_which, isOpened) => {
    const { documents } = restored.ledger;
    const request = oldStep();
    const { of, writer } = request;
    if (isOpened) await openRow(request);
    expect((await documents.take(request)).kind).toMatch(/^(not-known|doubtful)$/);
    const decision = {
      decision: "not-created",
      note: "not in the dashboard",
      by: "Jane",
      atMs: LOST_UNTIL_MS,
    } as const;
    await documents.decide({ ...BUSINESS, of, intent: 1, ...decision, writer });
    expect(await documents.take(oldStep(of.number))).toMatchObject({ kind: "behind", intent: 1 });
    const next = { ...oldStep(of.number), intent: 2 };
    expect(await documents.take(next)).toMatchObject({ kind: "send", first: true });
    expect((await verified(restored.ledger, BUSINESS)).findings).toEqual([]);
  });

  it("a sync batch without a claim is unknown, if its step is older", async () => {
    const { syncBatches } = restored.ledger;
    const { generation, token, writer, nowMs } = firstTry();
    const batch = { generation, token, writer, nowMs, ...taking(), connection: "default" };
    const old = { ...batch, syncBatchId: randomUUID(), scheduledAtMs: 1 };
    expect(await syncBatches.take(old)).toMatchObject(LOST);
    expect(
      await syncBatches.take({ ...batch, syncBatchId: randomUUID(), scheduledAtMs: Date.now() + 600_000 }),
    ).toEqual({ kind: "taken" });
  });
});
