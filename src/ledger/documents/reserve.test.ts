import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CorrectionStage, RunNote } from "../../contract/index.ts";
import { createTestLedger, type TestLedger } from "../test-support/create-test-ledger.ts";
import { by, keepRecord, recordOf, someBusiness } from "../test-support/records.ts";

let made: TestLedger;
beforeAll(async () => {
  made = await createTestLedger();
  await made.ledger.ready();
});
afterAll(() => made.drop());

const AT_MS = 1_763_600_000_000;

/** A business with the sale `INV-1`, which is signed, and which its run wants to correct. */
async function sold() {
  const business = someBusiness();
  const runOf = (number: string, runId = `run of ${number}`) => ({
    workflowId: `sale/default/${business.businessId}/${number}`,
    runId,
  });
  const own = runOf("INV-1");
  await keepRecord(made.ledger, business, recordOf("INV-1"), own);
  const { documents, events } = made.ledger;
  const { document: _none, movements: _moved, attentions: _open, numberTaken: _free, ...asked } = recordOf("NEW-1");
  const row = { ...asked, stage: "resolving-items" as const, fingerprint: "one content", replaces: "INV-1" };
  return {
    business,
    runOf,
    reserve: (more: Partial<typeof row> = {}, writer = own, askedAtMs = AT_MS) =>
      documents.reserve(business, { ...row, ...more }, { writer, askedAtMs }),
    release: (askedAtMs = AT_MS) =>
      documents.release(business, { number: "NEW-1", replaces: "INV-1" }, { writer: own, askedAtMs }),
    open: (fingerprint: string) => {
      const { replaces: _other, ...sale } = { ...row, fingerprint };
      return documents.open(business, sale, by(runOf("NEW-1"), AT_MS + 1));
    },
    find: async () => (await documents.findSale(business, "NEW-1"))?.record,
    told: async (stage: CorrectionStage, correctedBy = "NEW-1", sequence = 2) => {
      const correction = { correctedBy, creditNote: "CN-1", stage };
      const note: RunNote = {
        type: "sale",
        number: "INV-1",
        asOfMs: AT_MS,
        sequence,
        stage: "crediting",
        correction,
        numberTaken: true,
        attentions: [],
        attentionChanges: [],
        decisions: [],
      };
      await documents.note(business, note, own);
    },
    tale: async () =>
      (await events.read(business)).flatMap(({ correction }) =>
        correction ? [`${correction.correctedBy} ${correction.state}`] : [],
      ),
  };
}

describe("the number of a corrected sale", () => {
  test("is reserved for one sale: of many that ask at once one has it", async () => {
    const { reserve, runOf } = await sold();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => reserve({ replaces: `INV-${n}`, fingerprint: `${n}` }, runOf(`INV-${n}`))),
    );
    expect(answers.filter((holder) => holder === undefined)).toHaveLength(1);
  });

  test("is reserved again by a later run of its sale, with what is asked for now", async () => {
    const { reserve, runOf, find } = await sold();
    expect(await reserve()).toBeUndefined();
    expect(await reserve({ fingerprint: "another" }, runOf("INV-1", "run-2"), AT_MS + 1)).toBeUndefined();
    expect(await find()).toMatchObject({ replaces: "INV-1", fingerprint: "another", stage: "resolving-items" });
  });

  test("is free once it is released, whatever attempt comes late", async () => {
    const { reserve, release, find, runOf } = await sold();
    await reserve();
    await reserve({}, undefined, AT_MS + 5);
    await release(AT_MS + 1);
    expect(await find()).toMatchObject({ stage: "resolving-items" });
    await release(AT_MS + 6);
    await reserve({}, undefined, AT_MS + 5);
    expect(await find()).toMatchObject({ stage: "cancelled" });
    expect(await reserve({ replaces: "INV-2" }, runOf("INV-2"), AT_MS + 7)).toBeUndefined();
  });

  test("stays with a sale of other content, and with one that is sold already", async () => {
    const { business, reserve, open, runOf, find } = await sold();
    await open("other content");
    expect(await reserve()).toMatchObject({ fingerprint: "other content" });
    const signed = recordOf("NEW-1", { fingerprint: "one content", startedAtMs: AT_MS + 2 });
    await keepRecord(made.ledger, business, signed, runOf("NEW-1", "run-2"));
    expect(await reserve()).toMatchObject({ stage: "completed" });
    expect(await find()).not.toHaveProperty("replaces");
  });

  test("may be that of the same sale on its way, which then is the corrected one", async () => {
    const { reserve, release, open, find } = await sold();
    await open("one content");
    expect(await reserve({}, undefined, AT_MS + 2)).toBeUndefined();
    await release(AT_MS + 3);
    expect(await find()).toMatchObject({ replaces: "INV-1", stage: "resolving-items" });
  });

  test("is carried on by the corrected sale's own run, which keeps what it replaces", async () => {
    const { reserve, release, open, find } = await sold();
    await reserve();
    await open("one content");
    await release(AT_MS + 3);
    expect(await find()).toMatchObject({ replaces: "INV-1", stage: "resolving-items" });
  });

  test("is that of a sale like any other once it is released, and sold", async () => {
    const { reserve, release, open, find } = await sold();
    await reserve();
    await release(AT_MS);
    await open("one content");
    expect(await find()).toMatchObject({ stage: "resolving-items" });
    expect(await find()).not.toHaveProperty("replaces");
  });
});

test("a correction's beginning and its end are one event each, however often they are told", async () => {
  const { told, tale } = await sold();
  for (const stage of ["crediting", "crediting", "issuing", "corrected", "corrected"] as const) await told(stage);
  expect(await tale()).toEqual(["NEW-1 begun", "NEW-1 corrected"]);
});

test("a correction that another one follows before its end was told has been cancelled", async () => {
  const { told, tale } = await sold();
  await told("crediting");
  await told("crediting", "NEW-2");
  await told("cancelled", "NEW-2");
  expect(await tale()).toEqual(["NEW-1 begun", "NEW-1 cancelled", "NEW-2 begun", "NEW-2 cancelled"]);
});
