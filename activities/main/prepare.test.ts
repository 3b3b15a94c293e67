import { ApplicationFailure } from "@temporalio/common";
import { describe, expect, test } from "vitest";

import {
  type ConnectionProfile,
  fingerprintOf,
  goodsOf,
  type InputChecks,
  saleContent,
  type SaleInput,
  saleWorkflowId,
  type ServedBusinesses,
} from "../../src/contract/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { taking } from "../../src/ledger/test-support/movements.ts";
import { documentOf, keepRecord, recordOf } from "../../src/ledger/test-support/records.ts";
import { createPrepareActivities, finishedOf } from "./prepare.ts";
import { emptyClaims } from "../test-support/empty-claims.ts";
import { inActivity, serve } from "../test-support/served.ts";
import { verified } from "../../src/ledger/test-support/verified.ts";

/** 21:30 UTC: the next day in Nairobi. */
const LATE_MS = Date.parse("2026-11-21T21:30:00Z");

const sale: SaleInput = { traderInvoiceNumber: "INV-1", lines: [{ itemId: "itm_1", quantity: 1, unitPrice: 116 }] };
const SALE_ID = "sale/default/biz_1/INV-1";
const BUSINESS = { connection: "default", businessId: "biz_1" };
/** The first request of a document, by an earlier run. */
const SENT = {
  intent: 1,
  idempotencyKey: "key",
  content: "all",
  request: {},
  nowMs: 1,
  writer: { workflowId: SALE_ID, runId: "run-before" },
};
const REFUND = { reason: "06", traderInvoiceNumber: "CN-1", returnDate: "2026-11-22" } as const;

/**
 * `default` has an organisation-wide key with a default business, and serves another one; `shared` has one without a
 * default, and serves any; `bound` is bound to `biz_9`.
 */
async function prepareActivities(inputChecks: InputChecks = "warn") {
  const { runtime } = await serve();
  const { businessId: _businessId, ...shared } = runtime.profile;
  const profiles: ConnectionProfile[] = [
    runtime.profile,
    { ...shared, connection: "shared" },
    { ...shared, connection: "bound", keyReach: "business", businessId: "biz_9" },
  ];
  const served: Record<string, ServedBusinesses> = { default: ["biz_1", "biz_2"], shared: "any", bound: ["biz_9"] };
  const warned: string[] = [];
  const ledger = await emptyClaims();
  const { prepareSale, openCreditNote } = createPrepareActivities(
    new Map(
      profiles.map((profile) => [
        profile.connection,
        {
          profile,
          servedBusinesses: served[profile.connection] ?? [],
          inputChecks,
        },
      ]),
    ),
    ledger,
  );
  const targetOf = ({ connection = "default", businessId }: { connection?: string; businessId?: string }) => ({
    connection,
    businessId: businessId ?? profiles.find((profile) => profile.connection === connection)?.businessId,
  });
  return {
    profile: runtime.profile,
    ledger,
    warned,
    prepareReset: () =>
      inActivity(() => prepareSale({ input: sale, startedAtMs: LATE_MS, reset: true }), {
        workflowId: SALE_ID,
        warn: () => undefined,
      }),
    prepare: (changes: Partial<SaleInput> = {}) =>
      inActivity(() => prepareSale({ input: { ...sale, ...changes }, startedAtMs: LATE_MS }), {
        workflowId: saleWorkflowId({ ...targetOf(changes), traderInvoiceNumber: sale.traderInvoiceNumber }),
        warn: (message) => warned.push(message),
      }),
    prepareAlone: () =>
      inActivity(
        () => prepareSale({ input: { traderInvoiceNumber: sale.traderInvoiceNumber }, startedAtMs: LATE_MS }),
        { workflowId: SALE_ID, warn: () => undefined },
      ),
    prepareAny: (input: unknown) => prepareSale({ input: input as SaleInput, startedAtMs: LATE_MS }),
    openNote: (changes: { returnDate?: string } = {}, reset = false) =>
      inActivity(() => openCreditNote({ ...targetOf({}), saleId: "sal_1", refund: { ...REFUND, ...changes }, reset }), {
        workflowId: SALE_ID,
        warn: (message) => warned.push(message),
      }),
  };
}

async function refusalOf(type: string, preparation: Promise<unknown>): Promise<string> {
  const error: unknown = await preparation.catch((thrown: unknown) => thrown);
  if (!(error instanceof ApplicationFailure)) throw new Error("an ApplicationFailure was expected", { cause: error });
  expect(error).toMatchObject({ type, nonRetryable: true });
  return error.message;
}

function invalidInputOf(preparation: Promise<unknown>): Promise<string> {
  return refusalOf("InvalidInput", preparation);
}

describe("the preparation of a sale", () => {
  test("fills in connection, business, date and window", async () => {
    const { prepare, profile } = await prepareActivities();
    const { lines: _lines, ...withoutLines } = sale;
    expect(await prepare()).toEqual({
      profile,
      sale: { ...withoutLines, saleDate: "2026-11-22" },
      fingerprint: fingerprintOf(saleContent(sale, "biz_1")),
      refundWindowMs: profile.timings.refundWindowMs,
    });
  });

  test("keeps the date that was given", async () => {
    const { prepare } = await prepareActivities();
    expect((await prepare({ saleDate: "2026-11-01" })).sale.saleDate).toBe("2026-11-01");
  });

  test("warns of what looks wrong, and of nothing else, without any value of the customer", async () => {
    const { prepare, warned } = await prepareActivities();
    await prepare({ customer: { pin: "P012345678Z" }, saleDate: "2026-11-23" });
    await prepare({ customer: { pin: "P01234" }, saleDate: "2026-11-24" });
    expect(warned).toEqual([
      "The sale INV-1 looks wrong, and goes on: " +
        "customer.pin: expected A or P, nine digits and a letter, such as P012345678Z; " +
        "saleDate: expected a day from 2026-10-23 to 2026-11-23",
    ]);
  });

  test("takes the fingerprint of what was given, so that it does not depend on the day of the start", async () => {
    const { prepare } = await prepareActivities();
    const undated = await prepare();
    expect(undated.fingerprint).not.toBe((await prepare({ saleDate: "2026-11-22" })).fingerprint);
  });

  test("gives the same fingerprint whether the default business is named or not", async () => {
    const { prepare } = await prepareActivities();
    expect((await prepare({ businessId: "biz_1" })).fingerprint).toBe((await prepare()).fingerprint);
  });

  test.each([
    ["0", 0],
    ["90 minutes", 5_400_000],
  ])("accepts the refund window %j", async (refundWindow, refundWindowMs) => {
    const { prepare } = await prepareActivities();
    expect(await prepare({ refundWindow })).toMatchObject({ refundWindowMs });
  });

  test("lets an organisation-wide key act for another business than its default, if that is served", async () => {
    const { prepare } = await prepareActivities();
    expect((await prepare({ businessId: "biz_2" })).profile.businessId).toBe("biz_2");
    expect(await refusalOf("UnknownBusiness", prepare({ businessId: "biz_3" }))).toBe(
      'The business "biz_3" is not served through the connection "default", so nothing was sent. Served: biz_1, biz_2. Correct the business, or add it to COMPLIANCE_BUSINESSES.',
    );
  });

  test("names the business of a bound key, whether it is given or not", async () => {
    const { prepare } = await prepareActivities();
    expect((await prepare({ connection: "bound" })).profile.businessId).toBe("biz_9");
    expect((await prepare({ connection: "bound", businessId: "biz_9" })).profile.businessId).toBe("biz_9");
  });

  test("fails for a connection that is not configured, and names those that are", async () => {
    const { prepare } = await prepareActivities();
    expect(await invalidInputOf(prepare({ connection: "elsewhere" }))).toBe(
      'The sale input is not valid:\n  connection: expected a configured connection ("default", "shared", "bound"), found "elsewhere"',
    );
  });

  test("fails for an organisation-wide key without a business", async () => {
    const { prepare } = await prepareActivities();
    expect(await invalidInputOf(prepare({ connection: "shared" }))).toContain(
      'businessId: expected a business, since the key of connection "shared" is organisation-wide and has no default, found nothing',
    );
  });

  test("fails for a bound key with another business, whose name would make a second document of the number", async () => {
    const { prepare } = await prepareActivities();
    const refused = prepare({ connection: "bound", businessId: "biz_1" });
    expect(await refusalOf("UnknownBusiness", refused)).toContain("Served: biz_9.");
  });

  test.each([
    ["nothing", undefined, "input: expected an object, found nothing"],
    ["a text", "INV-1", 'input: expected an object, found "INV-1"'],
    ["no lines in its list", { traderInvoiceNumber: "INV-1", lines: [] }, "lines: expected at least one line"],
  ])("fails once, and for good, for %s", async (_what, input, problem) => {
    const { prepareAny } = await prepareActivities();
    expect(await invalidInputOf(prepareAny(input))).toContain(problem);
  });

  test("says what the ledger knows of the runs before, also where this one does not know that it is not the first", async () => {
    const { prepare, prepareReset, ledger } = await prepareActivities();
    expect(await prepare()).not.toHaveProperty("earlier");
    expect(await prepareReset()).toMatchObject({ earlier: { sent: false, signed: false } });
    const workflowId = SALE_ID;
    const of = { type: "sale", number: "INV-1" } as const;
    await ledger.documents.take({ ...BUSINESS, of, ...SENT, ...taking() });
    for (const answer of [await prepare(), await prepareReset()])
      expect(answer).toMatchObject({ earlier: { sent: true, signed: false } });
    const { fingerprint, profile } = await prepare();
    const record = { ...recordOf("INV-1", { fingerprint }), movements: [] };
    await keepRecord(ledger, profile, record, { workflowId, runId: "run-before" });
    expect(await prepareReset()).toMatchObject({ earlier: { sent: true, signed: true } });
  });

  test("carries on a refund that is under way, and none that was given up", async () => {
    const { prepareReset, ledger } = await prepareActivities();
    const { fingerprint, profile } = await prepareReset();
    const before = { workflowId: SALE_ID, runId: "run-before" };
    const refund = { traderInvoiceNumber: "CN-1", reason: "06" as const };
    // After the opening above.
    const asOfMs = Date.now() + 1_000;
    const record = { ...recordOf("INV-1", { fingerprint, refund, asOfMs }), movements: [] };
    await keepRecord(ledger, profile, record, before);
    expect(await prepareReset()).toMatchObject({ earlier: { refund } });
    const ofNote = { type: "credit_note" as const, originalSaleId: "sale_INV-1", document: null };
    const note = recordOf("CN-1", { ...ofNote, movements: [], stage: "submitting", refund });
    await keepRecord(ledger, profile, note, before);
    expect(await prepareReset()).toMatchObject({ earlier: { refund } });

    const atMs = note.asOfMs + 1_000;
    await keepRecord(ledger, profile, { ...note, asOfMs: atMs, stage: "cancelled" }, before);
    expect((await prepareReset()).earlier).not.toHaveProperty("refund");
  });

  test("carries on by its number alone a sale that the ledger has, with its options", async () => {
    const { prepare, prepareAlone } = await prepareActivities();
    expect(await refusalOf("NotFound", prepareAlone())).toContain("The ledger has no sale INV-1");
    const { fingerprint } = await prepare({ stock: "off", expectedTotal: 116 });
    expect(await prepareAlone()).toMatchObject({
      fingerprint,
      sale: { lines: sale.lines, stock: "off", expectedTotal: 116, saleDate: "2026-11-22" },
    });
  });

  test("waits for the ledger, since nothing is sent without it", async () => {
    const { prepare, prepareReset, openNote, ledger } = await prepareActivities();
    await ledger.close();
    for (const ask of [prepare, prepareReset, openNote]) await expect(ask()).rejects.toThrow(LedgerUnavailableError);
  });

  test("never puts a key into what the workflow keeps", async () => {
    const { prepare } = await prepareActivities();
    expect(JSON.stringify(await prepare())).not.toContain("cmp_sk_");
  });
});

describe("the opening of a credit note", () => {
  test("opens its row, and says what the runs before have sent and what was decided", async () => {
    const { openNote, ledger } = await prepareActivities();
    expect(await openNote()).toEqual({ sent: false });
    expect(await verified(ledger, { connection: "default", businessId: "biz_1" })).toMatchObject({
      withoutDocument: 1,
    });
    const of = { type: "credit_note", number: "CN-1", originalSaleId: "sal_1" } as const;
    await ledger.documents.take({ ...BUSINESS, of, ...SENT, ...taking() });
    expect(await openNote()).toEqual({ sent: true, otherRun: true });
  });

  test("warns of a date that looks wrong, which the sale has accepted", async () => {
    const { openNote, warned } = await prepareActivities("refuse");
    expect(await openNote({ returnDate: "1999-06-30" })).toEqual({ sent: false });
    expect(warned).toEqual([
      expect.stringMatching(/^The credit note CN-1 looks wrong, and goes on: returnDate: expected/),
    ]);
  });

  test("does not issue again after a reset what was given up before it", async () => {
    const { openNote, ledger, profile } = await prepareActivities();
    const ofNote = { type: "credit_note" as const, originalSaleId: "sal_1", document: null };
    const givenUp = recordOf("CN-1", { ...ofNote, movements: [], stage: "cancelled" });
    await keepRecord(ledger, profile, givenUp, { workflowId: SALE_ID, runId: "run-before" });
    expect(await openNote({}, true)).toMatchObject({ givenUp: true });
    // The answer of the first attempt was lost.
    expect(await openNote({}, true)).toMatchObject({ givenUp: true });
  });
});

test("a sale that ended long ago has what was sold, of very many lines too, for its credit note and its goods' return", () => {
  const [line] = documentOf("INV-9").lines;
  const lines = Array.from({ length: 1_000 }, () => line ?? []).flat();
  const record = recordOf("INV-9", { document: documentOf("INV-9", { lines }) });
  const { document } = finishedOf({ record, creditNote: undefined });
  expect(document).toMatchObject({ lines: [], linesLeftOut: { count: 1_000 } });
  expect(document && goodsOf(document)).toHaveLength(1_000);
});
