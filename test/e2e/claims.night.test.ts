import { afterAll, beforeAll, expect, test } from "vitest";

import { MAIN_TASK_QUEUE, type SaleInput, type SaleOutcome, saleWorkflowId } from "../../src/contract/index.ts";
import {
  type DecideRequest,
  LedgerUnavailableError,
  type MovementKey,
  type StockClaims,
  type TakeDocumentAnswer,
} from "../../src/ledger/index.ts";
import { activitiesByHand } from "../rig/activities-by-hand.ts";
import { asOwner } from "../rig/fresh-database.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { movementEventsOf } from "../../src/ledger/test-support/claim-events.ts";
import { taking } from "../../src/ledger/test-support/movements.ts";
import { openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { withLedger } from "../accounting/books.ts";
import { Held } from "../rig/held.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const ANOTHER_RUN = { workflowId: "another workflow", runId: "another" };

async function toldOf(rig: Rig, key: MovementKey) {
  const outside = openOutsideClient(asOwner(rig.config.ledger.url?.reveal() ?? ""));
  try {
    return await movementEventsOf(outside, key);
  } finally {
    await outside.end();
  }
}

/** Decision 22: what is claimed is sent at most once, by whichever run. */
describeWithTemporal("a second run of a sale", () => {
  let rig: Rig;
  /** What another run does at the last moment before an operator's decision is written down. */
  let meanwhile: ((stock: StockClaims, request: DecideRequest) => Promise<unknown>) | undefined;
  beforeAll(async () => {
    rig = await startRig({
      timings: { callTimeoutMs: 20_000, resubmissions: 0 },
      withLedger: (ledger) => ({
        ...ledger,
        stock: {
          ...ledger.stock,
          decide: async (request) => {
            const act = meanwhile;
            meanwhile = undefined;
            await act?.(ledger.stock, request);
            return await ledger.stock.decide(request);
          },
        },
      }),
    });
  });
  afterAll(() => rig?.close());

  const TEA = { itemId: "item_tea", quantity: 2, unitPrice: 350 };
  const idOf = (traderInvoiceNumber: string): string =>
    saleWorkflowId({ connection: "default", businessId: "biz_1", traderInvoiceNumber });
  const handleOf = (invoice: string, runId?: string) =>
    rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(idOf(invoice), runId);
  const reset = (invoice: string, before?: { activity: string; last?: boolean }) =>
    resetRun(rig.client, rig.namespace, idOf(invoice), before);
  const movementsOf = (invoice: string) =>
    rig.simulator.books().movements.filter(({ referenceId }) => referenceId?.startsWith(`${invoice}/`));

  async function start(traderInvoiceNumber: string, more: Partial<SaleInput> = {}) {
    await rig.starter.startSale({ traderInvoiceNumber, lines: [TEA], refundWindow: "0", ...more });
    return handleOf(traderInvoiceNumber);
  }

  /** As `temporal workflow start` on a closed id does it, by default. */
  function startAround(traderInvoiceNumber: string, more: Partial<SaleInput> = {}) {
    const input = { businessId: "biz_1", traderInvoiceNumber, lines: [TEA], refundWindow: "0", ...more };
    return rig.client.workflow.start<(input: SaleInput) => Promise<SaleOutcome>>("sale", {
      workflowId: idOf(traderInvoiceNumber),
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
    });
  }

  test("after a reset takes over the document and the movement, and sends neither again", async () => {
    const first = await (await start("RESET-1")).result();
    await reset("RESET-1");
    const second = await handleOf("RESET-1").result();
    expect(second).toMatchObject({ stage: "completed", sale: { id: first.sale?.id }, receipt: first.receipt });
    expect(second.stockMovements).toMatchObject([
      { state: "applied", movementId: first.stockMovements[0]?.movementId, quantityOnHand: expect.any(Number) },
    ]);
    expect(rig.callsOf("RESET-1")).toEqual(["createSale", "adjustStock", "readSale"]);
    expect(movementsOf("RESET-1")).toHaveLength(1);
  });

  test("that is started without the starter returns the finished sale without a call, also after the key's life", async () => {
    const first = await (await start("AGAIN-1")).result();
    rig.simulator.forgetIdempotencyKeys();
    const second = await (await startAround("AGAIN-1")).result();
    expect(second).toMatchObject({ stage: "completed", sale: { id: first.sale?.id } });
    expect(second.stockMovements).toEqual(first.stockMovements);
    expect(rig.callsOf("AGAIN-1")).toEqual(["createSale", "adjustStock"]);
  });

  test("around the starter with other content is a conflict that names what differs, and makes no second document", async () => {
    await (await start("OTHER-1")).result();
    const handle = await startAround("OTHER-1", { lines: [{ ...TEA, quantity: 3 }] });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: "Conflict", message: expect.stringContaining("What differs: lines[0].quantity: 3, before ") },
    });
    expect(rig.callsOf("OTHER-1")).toEqual(["createSale", "adjustStock"]);
    expect(movementsOf("OTHER-1")).toHaveLength(1);
    // The number is still the first sale's, for everybody who asks by it.
    const known = { stage: "completed", numberTaken: true, source: "ledger" };
    expect(await rig.starter.getSale({ invoice: "OTHER-1" })).toMatchObject({
      ...known,
      waitingFor: expect.stringMatching(/^nothing; another start of its number was refused: .+ What differs: lines/),
    });
    expect(await rig.starter.outcome({ invoice: "OTHER-1" })).toMatchObject(known);
    await expect(rig.starter.retry({ invoice: "OTHER-1" })).rejects.toMatchObject({ allowed: ["refund"] });
  });

  test("around the starter with an input that is refused leaves the number the first sale's", async () => {
    await (await start("OTHER-2")).result();
    const handle = await startAround("OTHER-2", { saleDate: "yesterday" });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
    const known = { stage: "completed", numberTaken: true, source: "ledger" };
    expect(await rig.starter.getSale({ invoice: "OTHER-2" })).toMatchObject(known);
    expect(await rig.starter.outcome({ invoice: "OTHER-2" })).toMatchObject(known);
  });

  test("in the middle of a movement waits for its answer, and asks nobody", async () => {
    const match = { referenceId: "MIDDLE-1/item_tea/sold" };
    const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs: 4_000, times: 1 } as const;
    rig.simulator.inject({ ...slow, match });
    await start("MIDDLE-1");
    await rig.simulator.until(() => movementsOf("MIDDLE-1").length === 1);
    await reset("MIDDLE-1");
    expect(await handleOf("MIDDLE-1").result()).toMatchObject({
      stage: "completed",
      stockMovements: [{ state: "applied", movementId: movementsOf("MIDDLE-1")[0]?.movementId }],
    });
    expect(movementsOf("MIDDLE-1")).toHaveLength(1);
    const { decisions } = await rig.starter.getSale({ invoice: "MIDDLE-1" });
    expect(decisions).toEqual([]);
  });

  test("takes over an operator's decision on an unknown movement", async () => {
    const match = { referenceId: "SAID-1/item_tea/sold" };
    rig.simulator.inject({ operation: "adjustStock", when: "after", kind: "drop", times: 1, match });
    const handle = await start("SAID-1");
    await rig.stateWhen("SAID-1", ({ attentions }) => attentions[0]?.code === "stock-unknown");
    const said = { referenceId: match.referenceId, applied: true, note: "seen in the journal", by: "njeri" };
    await rig.starter.resolveStock({ invoice: "SAID-1" }, said);
    await handle.result();
    await reset("SAID-1", { activity: "adjustStock" });
    expect(await handleOf("SAID-1").result()).toMatchObject({
      stockMovements: [{ state: "applied", decision: { applied: true, note: "seen in the journal", by: "njeri" } }],
    });
    const { decisions } = await rig.starter.getSale({ invoice: "SAID-1" });
    expect(decisions).toMatchObject([{ update: "resolveStock", answer: "applied", by: "njeri" }]);
    expect(movementsOf("SAID-1")).toHaveLength(1);
  });

  test("does not send again a movement that the earlier run had first deferred and then sent", async () => {
    const match = { referenceId: "PUTOFF-1/item_tea/sold" };
    const fault = { operation: "adjustStock", times: 1, match } as const;
    rig.simulator.inject({ ...fault, when: "before", kind: "rate-limit", retryAfterSeconds: 0 });
    rig.simulator.inject({ ...fault, when: "after", kind: "drop" });
    await start("PUTOFF-1");
    await rig.stateWhen("PUTOFF-1", ({ attentions }) => attentions[0]?.code === "stock-unknown");
    expect(rig.callsOf("PUTOFF-1")).toEqual(["createSale", "adjustStock", "adjustStock"]);
    // To a point behind the one at which the second try was begun.
    await reset("PUTOFF-1", { activity: "adjustStock", last: true });
    await rig.stateWhen("PUTOFF-1", ({ attentions }) => attentions[0]?.code === "stock-unknown");
    expect(movementsOf("PUTOFF-1")).toHaveLength(1);
    expect(rig.callsOf("PUTOFF-1").filter((operation) => operation === "adjustStock")).toHaveLength(2);
    await rig.starter.resolveStock({ invoice: "PUTOFF-1" }, { ...match, applied: true, note: "it is there" });
    await handleOf("PUTOFF-1").result();
  });

  test.each([true, false])("asks once about the earlier run's try, and records the decision: %s", async (applied) => {
    const invoice = `NEWEST-${applied}`;
    const match = { referenceId: `${invoice}/item_tea/sold` };
    const fault = { operation: "adjustStock", times: 1, match } as const;
    rig.simulator.inject({ ...fault, when: "before", kind: "rate-limit", retryAfterSeconds: 0 });
    rig.simulator.inject({ ...fault, when: applied ? "after" : "before", kind: "drop" });
    await start(invoice);
    await rig.stateWhen(invoice, ({ attentions }) => attentions[0]?.code === "stock-unknown");
    // The new run begins with the first try, where the claim has the second one.
    await reset(invoice, { activity: "adjustStock" });
    await rig.stateWhen(invoice, ({ attentions }) => attentions[0]?.code === "stock-unknown");
    await rig.starter.resolveStock({ invoice }, { ...match, applied, note: "looked" });
    const { decisions } = await rig.stateWhen(invoice, ({ attentions, stockMovements }) => {
      return attentions.length === 0 && stockMovements[0]?.state === "applied";
    });
    expect(decisions).toHaveLength(1);
    const key = { connection: "default", businessId: "biz_1", referenceId: match.referenceId };
    const said = await rig.ledger.stock.read(key);
    const told = await toldOf(rig, key);
    expect(said).toMatchObject(
      applied ? { kind: "decided-applied", decision: { note: "looked" } } : { kind: "applied" },
    );
    expect(told.map(({ what }) => what)).toContain(`decided-${applied ? "applied" : "not-applied"}`);
    expect(movementsOf(invoice)).toHaveLength(1);
  });

  test.each([true, false])("asks again where a newer try is in flight when the decision comes: %s", async (applied) => {
    const invoice = `NEWER-${applied}`;
    const match = { referenceId: `${invoice}/item_tea/sold` };
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 1, match });
    await start(invoice);
    await rig.stateWhen(invoice, ({ attentions }) => attentions[0]?.code === "stock-unknown");
    meanwhile = async (stock, request) => {
      await stock.decide({ ...request, decision: { applied: false, note: "not there", atMs: 1_000 } });
      const of = { type: "sale", number: invoice, purpose: "sold" } as const;
      const newer = { of, generation: 2, token: "newer", ...taking(), writer: ANOTHER_RUN, nowMs: 2_000 };
      await stock.take({ ...request, ...newer });
    };
    await rig.starter.resolveStock({ invoice }, { ...match, applied, note: "looked" });
    const { stockMovements } = await rig.stateWhen(invoice, ({ attentions }) => {
      return attentions[0]?.evidence?.["takenBy"] === "another workflow (run another)";
    });
    expect(stockMovements).toMatchObject([{ state: "unknown" }]);
    expect(movementsOf(invoice)).toEqual([]);
    const key = { connection: "default", businessId: "biz_1", referenceId: match.referenceId };
    const outcome = { kind: "not-applied", message: "the item is unknown" } as const;
    await withLedger(rig.config, ({ stock }) =>
      stock.settle({ ...key, generation: 2, token: "newer", outcome, writer: ANOTHER_RUN }),
    );
    expect(await handleOf(invoice).result()).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf(invoice)).toHaveLength(1);
  });

  test("leaves a movement unknown that the earlier run may have sent", async () => {
    const match = { referenceId: "LEFT-1/item_tea/sold" };
    rig.simulator.inject({ operation: "adjustStock", when: "after", kind: "drop", times: 1, match });
    await start("LEFT-1");
    await rig.stateWhen("LEFT-1", ({ attentions }) => attentions[0]?.code === "stock-unknown");
    await reset("LEFT-1");
    await rig.stateWhen("LEFT-1", ({ attentions }) => attentions[0]?.code === "stock-unknown");
    expect(movementsOf("LEFT-1")).toHaveLength(1);
    const said = { referenceId: match.referenceId, applied: true, note: "seen" };
    await rig.starter.resolveStock({ invoice: "LEFT-1" }, said);
    expect(await handleOf("LEFT-1").result()).toMatchObject({ stage: "completed" });
  });

  test("does not send a movement that an operator has given up in the run before", async () => {
    const referenceId = "GIVEN-UP-1/item_tea/sold";
    const body = { error: { code: "stock_locked", message: "stocktaking" } };
    const refused = { operation: "adjustStock", when: "before", kind: "status", status: 422, body } as const;
    rig.simulator.inject({ ...refused, times: 1, match: { referenceId } });
    const handle = await start("GIVEN-UP-1");
    await rig.stateWhen("GIVEN-UP-1", ({ attentions }) => attentions[0]?.code === "stock-refused");
    const word = { code: "stock-refused", note: "booked by hand" } as const;
    await rig.starter.acknowledge({ invoice: "GIVEN-UP-1" }, word);
    await handle.result();
    for (const before of [undefined, { activity: "adjustStock" }]) {
      await reset("GIVEN-UP-1", before);
      expect(await handleOf("GIVEN-UP-1").result()).toMatchObject({
        stage: "completed",
        stockMovements: [{ state: "dropped" }],
      });
    }
    expect(movementsOf("GIVEN-UP-1")).toEqual([]);
  });

  test("repeats the earlier run's exact bytes under its key, also with other callback secrets", async () => {
    const match = { invoice: "BYTES-1" };
    rig.simulator.inject({ operation: "createSale", when: "after", kind: "drop", times: 1, match });
    const away = rig.simulator.inject({
      operation: "createSale",
      when: "before",
      kind: "status",
      status: 503,
      skip: 1,
      match,
    });
    await start("BYTES-1");
    await rig.simulator.until(() => rig.simulator.documents("BYTES-1").length === 1);
    await rig.stopWorkers();
    const { callbacks } = rig.config;
    rig.config.callbacks = callbacks && { ...callbacks, publicUrl: `${callbacks.publicUrl}/elsewhere` };
    await rig.startWorkers();
    await reset("BYTES-1");
    away();
    expect(await handleOf("BYTES-1").result()).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("BYTES-1")).toHaveLength(1);
    expect(rig.simulator.books().keyReusedWithOtherBody).toEqual([]);
    rig.config.callbacks = callbacks;
    await rig.stopWorkers();
    await rig.startWorkers();
  });
});

/** An attempt that fails behind the call must not become another call. */
describeWithTemporal("a movement whose activity fails around its claim", () => {
  let rig: Rig;
  let defect: "settle" | "take" | "second-take" | "unsaid-take" | "away" | undefined;
  let afterUnsaid: "away" | undefined;
  let settlements = 0;
  beforeAll(async () => {
    const fail = (): never => {
      throw new TypeError("a defect of ours");
    };
    rig = await startRig({
      withLedger: (ledger) => ({
        ...ledger,
        stock: {
          ...ledger.stock,
          take: async (request) => {
            if (defect === "second-take" && request.generation === 2) fail();
            if (defect === "away") throw new LedgerUnavailableError("away");
            const taken = await ledger.stock.take(request);
            if (defect === "unsaid-take") {
              defect = afterUnsaid;
              throw new LedgerUnavailableError("away");
            }
            return defect === "take" ? fail() : taken;
          },
          settle: async (request) => {
            if (defect === "settle") fail();
            if (defect === "second-take" && settlements++ === 0) throw new LedgerUnavailableError("away");
            return await ledger.stock.settle(request);
          },
        },
      }),
    });
  });
  afterAll(() => rig?.close());

  const { start, parked } = salesOf(() => rig);
  const movementsOf = (invoice: string) =>
    rig.simulator.books().movements.filter(({ referenceId }) => referenceId?.startsWith(`${invoice}/`));

  test("by a defect after the call is shown as unknown, and is not sent again", async () => {
    defect = "settle";
    const handle = await start("DEFECT-1");
    const state = await parked("DEFECT-1", "stock-unknown");
    expect(state.attentions[0]?.message).toContain("a defect of ours");
    expect(movementsOf("DEFECT-1")).toHaveLength(1);
    defect = undefined;
    const said = { referenceId: "DEFECT-1/item_tea/sold", applied: true, note: "seen in the journal" };
    await rig.starter.resolveStock({ invoice: "DEFECT-1" }, said);
    expect(await handle.result()).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf("DEFECT-1")).toHaveLength(1);
  });

  test("by a defect before a second claim needs no operator, although the first refusal was recorded late", async () => {
    defect = "second-take";
    const match = { referenceId: "DEFECT-3/item_tea/sold" };
    const limit = { operation: "adjustStock", when: "before", kind: "rate-limit", retryAfterSeconds: 0 } as const;
    rig.simulator.inject({ ...limit, times: 1, match });
    const handle = await start("DEFECT-3");
    const state = await rig.stateWhen("DEFECT-3", ({ stockMovements, attentions }) => {
      return stockMovements[0]?.state === "applied" || attentions.length > 0;
    });
    defect = undefined;
    expect(state.attentions).toEqual([]);
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(movementsOf("DEFECT-3")).toHaveLength(1);
    const key = { connection: "default", businessId: "biz_1", ...match };
    const told = await toldOf(rig, key);
    expect(told.slice(0, 3).map(({ what, generation }) => `${what} ${generation}`)).toEqual([
      "taken 1",
      "settled-not-applied 1",
      "closed 2",
    ]);
  });

  test("is sent by the same try where the ledger took its claim, and could not say so", async () => {
    defect = "unsaid-take";
    const handle = await start("UNSAID-1");
    const state = await rig.stateWhen("UNSAID-1", ({ stockMovements, attentions }) => {
      return stockMovements[0]?.state === "applied" || attentions.length > 0;
    });
    expect(state.attentions).toEqual([]);
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect(movementsOf("UNSAID-1")).toHaveLength(1);
  });

  test("is not asked about where the sale was given up before its claim's answer came", async () => {
    [defect, afterUnsaid] = ["unsaid-take", "away"];
    rig.simulator.setAuthority("UNSAID-2", [{ do: "reject", afterMs: 500, reason: "no" }]);
    const handle = await start("UNSAID-2");
    await expect.poll(() => defect).toBe("away");
    await parked("UNSAID-2", "rejected");
    await rig.starter.cancel({ invoice: "UNSAID-2" }, { reason: "the customer left" });
    const ended = await rig.stateWhen(
      "UNSAID-2",
      ({ stage, attentions }) => stage === "cancelled" || attentions.length > 0,
    );
    expect(ended.attentions).toEqual([]);
    [defect, afterUnsaid] = [undefined, undefined];
    expect(await handle.result()).toMatchObject({ stage: "cancelled", stockMovements: [{ state: "dropped" }] });
    expect(movementsOf("UNSAID-2")).toEqual([]);
    const key = { connection: "default", businessId: "biz_1", referenceId: "UNSAID-2/item_tea/sold" };
    expect((await toldOf(rig, key)).map(({ what }) => what)).toEqual(["taken", "closed"]);
  });

  test("by a defect between the claim and the call is shown as unknown, since it may have been sent", async () => {
    defect = "take";
    const handle = await start("DEFECT-2");
    await parked("DEFECT-2", "stock-unknown");
    expect(movementsOf("DEFECT-2")).toEqual([]);
    defect = undefined;
    const said = { referenceId: "DEFECT-2/item_tea/sold", applied: false, note: "not in the journal" };
    await rig.starter.resolveStock({ invoice: "DEFECT-2" }, said);
    expect(await handle.result()).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf("DEFECT-2")).toHaveLength(1);
  });
});

describeWithTemporal("a sale of which the ledger took the claim, and could not say so", () => {
  let rig: Rig;
  let defect: "unsaid-take" | "away" | undefined;
  let standsStill: Held | undefined;
  let woken: TakeDocumentAnswer | undefined;
  let afterUnsaid: "away" | undefined;
  beforeAll(async () => {
    rig = await startRig({
      env: { COMPLIANCE_DIALECT: JSON.stringify({ createSale: { idempotencyKey: "sent" } }) },
      withLedger: (ledger) => ({
        ...ledger,
        documents: {
          ...ledger.documents,
          take: async (request) => {
            if (defect === "away") throw new LedgerUnavailableError("away");
            if (standsStill?.calls === 0)
              return await standsStill.pass(async () => (woken = await ledger.documents.take(request)));
            const taken = await ledger.documents.take(request);
            if (defect === undefined) return taken;
            defect = afterUnsaid;
            throw new LedgerUnavailableError("away");
          },
        },
      }),
    });
  });
  afterAll(() => rig?.close());

  const { start, sell } = salesOf(() => rig);
  const { fail } = activitiesByHand(() => rig);

  test("is sent by the next try, without a trusted key too, and nobody is asked", async () => {
    [defect, afterUnsaid] = ["unsaid-take", undefined];
    expect(await sell("UNSAID-3")).toMatchObject({ stage: "completed" });
    expect(rig.callsOf("UNSAID-3")).toEqual(["createSale", "adjustStock"]);
  });

  test("is given up where it is cancelled before the ledger is back, and its claim is in doubt no more", async () => {
    [defect, afterUnsaid] = ["unsaid-take", "away"];
    const handle = await start("UNSAID-4");
    await expect.poll(() => defect).toBe("away");
    await rig.starter.cancel({ invoice: "UNSAID-4" }, { reason: "the customer left" });
    expect(await handle.result()).toMatchObject({ stage: "cancelled" });
    defect = undefined;
    expect(rig.callsOf("UNSAID-4")).toEqual([]);
    const claim = { connection: "default", businessId: "biz_1", of: { type: "sale", number: "UNSAID-4" } } as const;
    expect(await rig.ledger.documents.read(claim)).toEqual({ intent: 2 });
  });

  test("is not sent by an execution that stood still until the sale was given up", async () => {
    [defect, standsStill] = [undefined, new Held()];
    const handle = await start("STILL-1");
    await expect.poll(() => standsStill?.calls).toBe(1);
    await rig.starter.cancel({ invoice: "STILL-1" }, { reason: "the customer left" });
    const limit = { operation: "createSale", when: "before", kind: "rate-limit", retryAfterSeconds: 0 } as const;
    rig.simulator.inject({ ...limit, times: 1, match: { invoice: "STILL-1" } });
    await fail("STILL-1", "createSale");
    expect(await handle.result()).toMatchObject({ stage: "cancelled" });
    standsStill?.release();
    await expect.poll(() => woken).toMatchObject({ kind: "behind" });
    expect(rig.simulator.documents("STILL-1")).toEqual([]);
  });
});
