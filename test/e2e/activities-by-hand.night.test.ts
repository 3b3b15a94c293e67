import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Ledger } from "../../src/ledger/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { activitiesByHand } from "../rig/activities-by-hand.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { Held } from "../rig/held.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

/** What somebody may complete an activity with by hand. */
const NO_ANSWERS = [null, {}, "done", { kind: "done" }];

describeWithTemporal("an activity that an operator ends by hand", () => {
  let rig: Rig;
  /** Calls of the ledger that stand still, so that their activity can be ended, by the call's name. */
  const held = new Map<string, Held>();
  let isClaimUnsettled = false;

  function holdable(real: Ledger): Ledger {
    const through = <T>(name: string, call: () => Promise<T>): Promise<T> => held.get(name)?.pass(call) ?? call();
    return {
      ...real,
      documents: {
        ...real.documents,
        openNew: (...of) => through("prepareSale", () => real.documents.openNew(...of)),
        findSale: (...of) => through("prepareSale", () => real.documents.findSale(...of)),
        note: (...of) => through("noteRun", () => real.documents.note(...of)),
      },
      stock: {
        ...real.stock,
        read: (of) => through("watchMovement", () => real.stock.read(of)),
        readOrClose: (of) => through("readMovement", () => real.stock.readOrClose(of)),
        decide: (of) => through("decideMovement", () => real.stock.decide(of)),
        settle: (of) =>
          isClaimUnsettled
            ? Promise.reject(new LedgerUnavailableError("away"))
            : through("settleMovement", () => real.stock.settle(of)),
      },
    };
  }

  beforeAll(async () => {
    rig = await startRig({ receiver: false, timings: { callTimeoutMs: 4_000 }, withLedger: holdable });
  });
  afterAll(() => rig?.close());
  const { start, result, parked, movementsOf } = salesOf(() => rig);
  const { fail, complete, setDeadline, setMaximumAttempts, taskFailures } = activitiesByHand(() => rig);

  function hold(name: string): () => void {
    const call = new Held();
    held.set(name, call);
    return () => {
      held.delete(name);
      call.release();
    };
  }

  /** The sale, whose movement is unknown: it was sent, and its answer is lost. */
  async function unknownMovement(invoice: string): Promise<{ referenceId: string }> {
    const referenceId = `${invoice}/item_tea/sold`;
    rig.simulator.inject({ operation: "adjustStock", when: "after", kind: "drop", times: 1, match: { referenceId } });
    await start(invoice);
    await parked(invoice, "stock-unknown");
    return { referenceId };
  }

  async function endOf(invoice: string): Promise<object> {
    const { stage } = await result(invoice);
    const documents = rig.simulator.documents(invoice).length;
    return { stage, documents, taskFailures: await taskFailures(invoice) };
  }
  const COMPLETED_ONCE = { stage: "completed", documents: 1, taskFailures: [] };

  describe("by a failure", () => {
    test("is scheduled again, where it keeps what the run knows", async () => {
      const release = hold("noteRun");
      await start("FAILED-1", { stock: "off", expectedTotal: 1 });
      await fail("FAILED-1", "noteRun");
      release();
      await rig.starter.acknowledge({ invoice: "FAILED-1" }, { code: "mismatch", note: "the till rounds" });
      expect(await endOf("FAILED-1")).toEqual(COMPLETED_ONCE);
    });

    test("is scheduled again, where it is the first one of a sale", async () => {
      const release = hold("prepareSale");
      await start("FAILED-6", { stock: "off" });
      await fail("FAILED-6", "prepareSale");
      await complete("FAILED-6", "prepareSale", { kind: "done" });
      release();
      expect(await endOf("FAILED-6")).toEqual(COMPLETED_ONCE);
    });

    test("is scheduled again, where it reads a movement's claim", async () => {
      const referenceId = "FAILED-2/item_tea/sold";
      rig.simulator.inject({
        operation: "adjustStock",
        when: "before",
        kind: "slow",
        delayMs: 3_000,
        times: 1,
        match: { referenceId },
      });
      const release = hold("readMovement");
      await start("FAILED-2");
      await fail("FAILED-2", "adjustStock");
      await fail("FAILED-2", "readMovement");
      release();
      expect(await endOf("FAILED-2")).toEqual(COMPLETED_ONCE);
      expect(movementsOf("FAILED-2")).toHaveLength(1);
    });

    test("is scheduled again, where it writes an operator's decision", async () => {
      const { referenceId } = await unknownMovement("FAILED-3");
      const release = hold("decideMovement");
      const decided = { referenceId, applied: true, note: "seen" };
      await rig.starter.resolveStock({ invoice: "FAILED-3" }, decided);
      await fail("FAILED-3", "decideMovement");
      release();
      expect(await endOf("FAILED-3")).toEqual(COMPLETED_ONCE);
    });

    test("is scheduled again, where it writes a movement's outcome that nothing waits for", async () => {
      isClaimUnsettled = true;
      const release = hold("settleMovement");
      await start("FAILED-4");
      await rig.stateWhen("FAILED-4", ({ stockMovements }) => stockMovements[0]?.state === "applied");
      isClaimUnsettled = false;
      await fail("FAILED-4", "settleMovement");
      release();
      expect(await endOf("FAILED-4")).toEqual(COMPLETED_ONCE);
    });

    test("again and again is shown, and scheduled at once after a retry", async () => {
      const release = hold("noteRun");
      await start("FAILED-5", { stock: "off", expectedTotal: 1 });
      await parked("FAILED-5", "mismatch");
      await rig.starter.acknowledge({ invoice: "FAILED-5" }, { code: "mismatch", note: "the till rounds" });
      for (let times = 0; times < 4; times++) await fail("FAILED-5", "noteRun");
      const { attentions } = await parked("FAILED-5", "unexpected-answer");
      expect(attentions).toMatchObject([
        { subject: "noteRun", message: expect.stringContaining("by mistake"), resolvedBy: ["retry"] },
      ]);
      release();
      await rig.starter.retry({ invoice: "FAILED-5" }, { code: "unexpected-answer" });
      expect(await endOf("FAILED-5")).toEqual(COMPLETED_ONCE);
    });
  });

  test("again and again, for two movements, is shown until both have an answer", async () => {
    const slow = { operation: "adjustStock", when: "before", kind: "slow", delayMs: 2_000, times: 2 } as const;
    rig.simulator.inject(slow);
    const release = hold("readMovement");
    await start("FAILED-7", { lines: [TEA, { itemId: "item_flour", quantity: 1, unitPrice: 210.5 }] });
    for (let movements = 0; movements < 2; movements++) await fail("FAILED-7", "adjustStock");
    for (let times = 0; times < 6; times++) await fail("FAILED-7", "readMovement");
    await complete("FAILED-7", "readMovement", { kind: "unknown", message: "not known", evidence: {} });
    const one = await rig.stateWhen("FAILED-7", ({ stockMovements }) =>
      stockMovements.some(({ state }) => state === "applied"),
    );
    expect(one.attentions).toMatchObject([{ subject: "readMovement", resolvedBy: ["retry"] }]);
    await rig.starter.retry({ invoice: "FAILED-7" }, { code: "unexpected-answer" });
    release();
    expect(await endOf("FAILED-7")).toEqual(COMPLETED_ONCE);
  });

  describe("by a result that is no answer", () => {
    test.each(NO_ANSWERS)("waits for the authority all the same: %j", async (answer) => {
      const invoice = `NO-ANSWER-${NO_ANSWERS.indexOf(answer)}`;
      rig.simulator.setAuthority(invoice, [{ do: "down" }]);
      const slow = { operation: "readSale", when: "after", kind: "slow", delayMs: 2_000, match: { invoice } } as const;
      const remove = rig.simulator.inject(slow);
      await start(invoice, { stock: "off" });
      await complete(invoice, "awaitDocument", answer);
      remove();
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      expect(await endOf(invoice)).toEqual(COMPLETED_ONCE);
    });

    test.each(NO_ANSWERS)("reads the movement's claim all the same: %j", async (answer) => {
      const invoice = `NO-CLAIM-${NO_ANSWERS.indexOf(answer)}`;
      const referenceId = `${invoice}/item_tea/sold`;
      const match = { referenceId };
      rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "slow", delayMs: 3_000, times: 1, match });
      const release = hold("readMovement");
      await start(invoice);
      await fail(invoice, "adjustStock");
      await complete(invoice, "readMovement", answer);
      release();
      expect(await endOf(invoice)).toEqual(COMPLETED_ONCE);
      expect(movementsOf(invoice)).toHaveLength(1);
    });

    test.each(NO_ANSWERS)("keeps what an operator decides all the same: %j", async (answer) => {
      const invoice = `NO-DECISION-${NO_ANSWERS.indexOf(answer)}`;
      const { referenceId } = await unknownMovement(invoice);
      const release = hold("decideMovement");
      await rig.starter.resolveStock({ invoice }, { referenceId, applied: true, note: "seen" });
      await complete(invoice, "decideMovement", answer);
      release();
      expect(await endOf(invoice)).toEqual(COMPLETED_ONCE);
      const claim = await rig.ledger.stock.read({ ...BUSINESS, referenceId });
      expect(claim).toMatchObject({ kind: "decided-applied", decision: { note: "seen" } });
    });

    test("is shown, and asked for again after a retry, where a document was read", async () => {
      const invoice = "NO-READING";
      rig.simulator.setAuthority(invoice, [{ do: "down" }]);
      await start(invoice, { stock: "off" });
      await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
      const slow = { operation: "readSale", when: "after", kind: "slow", delayMs: 2_000, match: { invoice } } as const;
      const remove = rig.simulator.inject(slow);
      await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice })).signal("callbackReceived", {});
      await complete(invoice, "readDocument", { kind: "document" });
      const { attentions } = await parked(invoice, "unexpected-answer");
      expect(attentions[0]?.message).toContain('{"kind":"document"}');
      remove();
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
      await rig.starter.retry({ invoice }, { code: "unexpected-answer" });
      expect(await endOf(invoice)).toEqual(COMPLETED_ONCE);
    });
  });

  describe("by a bound of its own", () => {
    test("goes on waiting for the authority after a deadline", async () => {
      rig.simulator.setAuthority("BOUND-1", [{ do: "down" }]);
      await start("BOUND-1", { stock: "off" });
      await setDeadline("BOUND-1", "awaitDocument", 1);
      await rig.simulator.until(() => reads("BOUND-1") > 5);
      rig.simulator.setAuthority("BOUND-1", [{ do: "accept" }]);
      expect(await endOf("BOUND-1")).toEqual(COMPLETED_ONCE);
    });

    test("goes on waiting for the authority after its last attempt", async () => {
      rig.simulator.setAuthority("BOUND-2", [{ do: "down" }]);
      await start("BOUND-2", { stock: "off" });
      await setMaximumAttempts("BOUND-2", "awaitDocument", 2);
      await rig.simulator.until(() => reads("BOUND-2") > 5);
      rig.simulator.setAuthority("BOUND-2", [{ do: "accept" }]);
      expect(await endOf("BOUND-2")).toEqual(COMPLETED_ONCE);
    });

    const reads = (invoice: string): number => rig.callsOf(invoice).filter((call) => call === "readSale").length;
  });
});
