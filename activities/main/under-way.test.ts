import { MockActivityEnvironment } from "@temporalio/testing";
import { describe, expect, test } from "vitest";

import type { CreditNoteInput, SaleInput, ServiceTrouble } from "../../src/contract/index.ts";
import { LedgerUnavailableError, type Ledger, type UnderWayRecord } from "../../src/ledger/index.ts";
import { troubleIn } from "../../src/worker/activity-interceptors.ts";
import { retryAfter, stillWaiting } from "../failure.ts";
import { apiError } from "../test-support/behind-breaker.ts";
import { serve } from "../test-support/served.ts";
import { createMainActivities, type MainContext } from "./index.ts";
import { UnderWay } from "./under-way.ts";

const STARTED_MS = Date.parse("2026-11-21T21:30:00Z");
const SALE: SaleInput = { traderInvoiceNumber: "AWAY-1", lines: [{ sku: "TEA-500", quantity: 2, unitPrice: 350 }] };
const AWAY: ServiceTrouble = { kind: "away", sinceMs: STARTED_MS };

const NOTE: CreditNoteInput = { reason: "06", traderInvoiceNumber: "CN-AWAY-1", saleId: "sal_away" };

interface Call {
  input?: unknown;
  request?: unknown;
  attempt?: number;
  activityType?: string;
  workflowType?: string;
  workflowId?: string;
}

/** What the ledger is asked to keep of one run. */
async function watched() {
  const { context, runtime } = await serve();
  const rows: UnderWayRecord[] = [];
  const ledger = { isAway: false, asked: 0 };
  let input: unknown = SALE;
  const saveUnderWay: Ledger["records"]["saveUnderWay"] = (_business, row) => {
    ledger.asked += 1;
    if (ledger.isAway) return Promise.reject(new LedgerUnavailableError("no database"));
    rows.push(row);
    return Promise.resolve();
  };
  const { connections } = context;
  const startOfRun = () => Promise.resolve({ input: [input], startedAtMs: STARTED_MS });
  const underWay = new UnderWay({ connections, ledger: { records: { saveUnderWay } }, startOfRun });
  const inRun = (
    work: () => Promise<unknown>,
    {
      activityType = "createSale",
      workflowType = "sale",
      attempt = 1,
      workflowId = "sale/default/biz_1/AWAY-1",
    }: Call = {},
  ) => {
    const workflowExecution = { workflowId, runId: "run" };
    return new MockActivityEnvironment({ activityType, workflowType, attempt, workflowExecution }).run(work);
  };
  const rest = { accounting: new Map(), callbackUrlFor: () => undefined } as Partial<MainContext> as MainContext;
  const main = createMainActivities({ ...rest, ...context, underWay });
  const startedAtMs = STARTED_MS;
  return {
    rows,
    ledger,
    apiIsAway: () => runtime.health.failed(apiError("getSale", { status: 503, envelope: true }), 1),
    putOff: (answer: () => unknown, call: Call = {}) => {
      input = call.input ?? SALE;
      return inRun(async () => {
        const trouble = troubleIn(answer());
        if (trouble) await underWay.putOff(trouble, call.request);
      }, call);
    },
    prepared: () => inRun(() => main.prepareSale({ input: SALE, startedAtMs })),
    preparedCreditNote: () =>
      inRun(() => main.prepareCreditNote({ input: NOTE, startedAtMs }), {
        workflowType: "creditNote",
        workflowId: "credit-note/default/biz_1/sal_away",
      }),
  };
}

/** As an activity fails that meets this trouble. */
const failed =
  (trouble: ServiceTrouble = AWAY) =>
  () =>
    retryAfter("Deferred", "no answer", 1_000, trouble);

describe("a sale that the API does not take", () => {
  test("is kept with what was asked for, dated as its document will be, once however often its call is tried", async () => {
    const { rows, putOff } = await watched();
    await putOff(failed());
    await putOff(failed());
    expect(rows).toMatchObject([
      {
        type: "sale",
        number: "AWAY-1",
        stage: "submitting",
        numberTaken: true,
        startedAtMs: STARTED_MS,
        date: "2026-11-22",
        content: { businessId: "biz_1", saleDate: null, lines: [{ item: "sku:TEA-500", quantity: 2, unitPrice: 350 }] },
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ]);
  });

  test("is kept by what its call is for: nothing may have left while its items are looked up", async () => {
    const { rows, putOff } = await watched();
    await putOff(failed(), { activityType: "readItems" });
    await putOff(failed(), { activityType: "registerItem" });
    await putOff(failed());
    expect(rows.map(({ stage, numberTaken }) => [stage, numberTaken])).toEqual([
      ["resolving-items", false],
      ["registering", false],
      ["submitting", true],
    ]);
  });

  test("is kept where the call that is sent at most once comes back unsent, too", async () => {
    const { rows, putOff } = await watched();
    await putOff(() => ({ kind: "deferred", message: "connection refused", trouble: AWAY }));
    expect(rows).toHaveLength(1);
  });

  test("is kept from the second 429 on", async () => {
    const { rows, putOff } = await watched();
    const limited = failed({ ...AWAY, kind: "rate-limited" });
    await putOff(limited);
    expect(rows).toEqual([]);
    await putOff(limited, { attempt: 2 });
    expect(rows).toHaveLength(1);
  });

  test("is kept when it is prepared while the API is known to be away", async () => {
    const { rows, apiIsAway, prepared } = await watched();
    await prepared();
    expect(rows).toEqual([]);
    await apiIsAway();
    await prepared();
    expect(rows).toMatchObject([{ stage: "resolving-items", numberTaken: false }]);
  });

  test("has its credit note kept in the same way", async () => {
    const { rows, putOff } = await watched();
    await putOff(failed(), { input: NOTE, activityType: "createCreditNote", workflowType: "creditNote" });
    expect(rows).toMatchObject([
      { type: "credit_note", number: "CN-AWAY-1", originalSaleId: "sal_away", date: "2026-11-22", numberTaken: true },
    ]);
  });

  test("has its credit note kept while the sale that it reverses cannot be read, and again once it may be sent", async () => {
    const { rows, putOff } = await watched();
    const note = { input: NOTE, workflowType: "creditNote" };
    await putOff(failed(), { ...note, activityType: "readDocument", request: { saleId: "sal_away" } });
    await putOff(failed(), { ...note, activityType: "createCreditNote" });
    expect(rows).toMatchObject([
      { type: "credit_note", number: "CN-AWAY-1", stage: "submitting", originalSaleId: "sal_away", numberTaken: false },
      { type: "credit_note", number: "CN-AWAY-1", stage: "submitting", originalSaleId: "sal_away", numberTaken: true },
    ]);
  });

  test("has its credit note kept when that is prepared while the API is known to be away", async () => {
    const { rows, apiIsAway, preparedCreditNote } = await watched();
    await preparedCreditNote();
    expect(rows).toEqual([]);
    await apiIsAway();
    await preparedCreditNote();
    expect(rows).toMatchObject([{ type: "credit_note", stage: "submitting", numberTaken: false }]);
  });

  test("is tried again with the next attempt where the ledger does not take it, and fails nothing", async () => {
    const { rows, ledger, putOff } = await watched();
    ledger.isAway = true;
    await putOff(failed());
    ledger.isAway = false;
    await putOff(failed());
    expect([ledger.asked, rows.length]).toEqual([2, 1]);
  });

  test.each<[string, () => unknown, Call]>([
    ["the call has an answer", () => ({ kind: "document" }), {}],
    ["the request budget keeps the call back", failed({ ...AWAY, kind: "held-back" }), {}],
    [
      "a document that exists is polled",
      () => stillWaiting("It is pending.", 1_000, AWAY),
      { activityType: "awaitDocument" },
    ],
    ["the sale was issued elsewhere", failed(), { input: { ...SALE, saleId: "sal_away" } }],
    [
      "its document is read",
      failed(),
      { activityType: "readDocument", request: { saleId: "sal_away" }, input: { ...SALE, saleId: "sal_away" } },
    ],
    [
      "its credit note's own document is read",
      failed(),
      { activityType: "readDocument", request: { saleId: "cn_1" }, input: NOTE, workflowType: "creditNote" },
    ],
    ["the run is no sale's", failed(), { activityType: "readItems", workflowType: "registerItems" }],
    ["the input is not valid", failed(), { input: { traderInvoiceNumber: "" } }],
  ])("is not kept where %s", async (_why, answer, call) => {
    const { ledger, putOff } = await watched();
    await putOff(answer, call);
    expect(ledger.asked).toBe(0);
  });
});
