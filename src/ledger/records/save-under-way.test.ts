import { describe, expect, it } from "vitest";

import type { DocumentRecord } from "../../contract/index.ts";
import type { UnderWayRecord } from "../index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { documentOf, recordOf, someBusiness, WRITER } from "../test-support/records.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;
const STARTED_MS = recordOf("INV-1").startedAtMs;
const NEXT_RUN = { ...WRITER, runId: "run-2" };

const underWay: UnderWayRecord = {
  type: "sale",
  number: "INV-1",
  stage: "resolving-items",
  startedAtMs: STARTED_MS,
  numberTaken: false,
  date: "2026-11-20",
  fingerprint: "one",
};
const keep = (business: Business, more: Partial<UnderWayRecord> = {}, writer = WRITER) =>
  test.ledger.records.saveUnderWay(business, { ...underWay, ...more }, writer);
/** Of the run itself, at the very moment of its start. */
const save = (business: Business, more: Partial<DocumentRecord> = {}, writer = WRITER) =>
  test.ledger.records.saveDocument(business, recordOf("INV-1", { fingerprint: "one", ...more }), writer);
const kept = (business: Business) => test.ledger.records.findSale(business, "INV-1");

const NO_DOCUMENT: Partial<DocumentRecord> = { document: null, movements: [], stage: "submitting" };
const parked: Partial<DocumentRecord> = {
  ...NO_DOCUMENT,
  attentions: [{ code: "credentials", message: "no", sinceMs: 1, resolvedBy: ["retry"] }],
};

describe("that a document is under way", () => {
  it("is kept where nothing else is known of it, once, however often it is told", async () => {
    const business = someBusiness();
    await keep(business);
    await keep(business);
    expect(await kept(business)).toMatchObject({
      record: { stage: "resolving-items", document: null },
      writer: WRITER,
    });
    expect(await test.ledger.events.read(business)).toHaveLength(1);
    expect((await test.ledger.records.verify(business)).findings).toEqual([]);
  });

  it("gives way to the first record of its run", async () => {
    const business = someBusiness();
    await keep(business);
    expect(await save(business)).toBe("saved");
    expect((await kept(business))?.record).toMatchObject({ stage: "completed", document: { status: "completed" } });
  });

  it.each([
    ["of its run", WRITER],
    ["of an earlier run", NEXT_RUN],
  ])("takes nothing back of a signed document %s when it is told late", async (_whose, writer) => {
    const business = someBusiness();
    await save(business);
    await keep(business, { startedAtMs: STARTED_MS + 60_000 }, writer);
    expect(await kept(business)).toMatchObject({ record: { stage: "completed" }, writer: WRITER });
  });

  it("takes back no attention of its run when it is told late", async () => {
    const business = someBusiness();
    await save(business, parked);
    await keep(business, { stage: "submitting", numberTaken: true });
    expect((await kept(business))?.record.attentions).toMatchObject([{ code: "credentials" }]);
  });

  it("says that a request may have left as soon as that is so, and never again that none has", async () => {
    const business = someBusiness();
    await keep(business);
    await keep(business, { stage: "submitting", numberTaken: true });
    await keep(business);
    expect((await kept(business))?.record).toMatchObject({ stage: "submitting", numberTaken: true });
  });

  it("replaces what an ended run without a document has left, and comes behind a run that began later", async () => {
    const business = someBusiness();
    const document = documentOf("INV-1", { status: "pending", receipt: null });
    await save(business, { ...NO_DOCUMENT, stage: "cancelled" });
    await keep(business, { startedAtMs: STARTED_MS + 60_000 }, NEXT_RUN);
    expect(await kept(business)).toMatchObject({ record: { stage: "resolving-items" }, writer: NEXT_RUN });
    await keep(business, { startedAtMs: STARTED_MS + 1 }, { ...WRITER, runId: "run-1b" });
    expect(await kept(business)).toMatchObject({ writer: NEXT_RUN });
    expect(await save(business, { document, asOfMs: STARTED_MS + 60_000 }, NEXT_RUN)).toBe("saved");
  });
});
