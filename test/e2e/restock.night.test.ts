import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import {
  MAIN_TASK_QUEUE,
  type RefundRequest,
  type SaleInput,
  type SaleOutcome,
  worthOf,
} from "../../src/contract/index.ts";
import { NotAllowedError, SaleConflictError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const FLOUR = { itemId: "item_flour", quantity: 1, unitPrice: 210.5 };
const REFUSED = {
  operation: "adjustStock",
  when: "before",
  kind: "status",
  status: 422,
  body: { error: { code: "stock_locked", message: "stocktaking" } },
  times: 1,
} as const;
const SOMEBODY = { workflowId: "by hand", runId: "none" };
const LOST = { operation: "adjustStock", kind: "drop", times: 1 } as const;

/** Failure model, invariant 3: what goes back is at most what is known to be applied, for each item and branch. */
describeWithTemporal("the goods of a refund", () => {
  let rig: Rig;
  /** A movement of which somebody else says at the last moment that it was applied. */
  let saidByAnother: string | undefined;
  /** Under which each movement was sent last. */
  const tokens = new Map<string, string>();
  beforeAll(async () => {
    rig = await startRig({
      timings: { callTimeoutMs: 20_000, resubmissions: 0 },
      withLedger: (ledger) => ({
        ...ledger,
        stock: {
          ...ledger.stock,
          take: async (request) => {
            tokens.set(request.referenceId, request.token);
            return await ledger.stock.take(request);
          },
          decide: async (request) => {
            const decision = { applied: true, note: "seen in the journal", by: "njeri", atMs: 1_000 };
            if (request.referenceId === saidByAnother) await ledger.stock.decide({ ...request, decision });
            return await ledger.stock.decide(request);
          },
        },
      }),
    });
  });
  afterAll(() => rig?.close());

  const { start, handleOf, parked, result } = salesOf(() => rig);
  const noteOf = (invoice: string): string => `CN-${invoice}`;
  const bookedFor = (invoice: string) =>
    rig.simulator
      .books()
      .movements.filter(({ referenceId }) =>
        [invoice, noteOf(invoice)].some((number) => referenceId?.startsWith(`${number}/`)),
      )
      .map(({ action, itemId, quantity, branchId }) => `${action} ${quantity} ${itemId} ${branchId}`);

  /** Of all movements of the suite but the ones that an operator decided, by item and branch. */
  const decided = new Set<string>();
  afterEach(() => {
    const left = new Map<string, number>();
    for (const { referenceId, action, itemId, branchId, quantity } of rig.simulator.books().movements) {
      const number = String(referenceId).split("/")[0]?.replace(/^CN-/, "") ?? "";
      if (decided.has(number)) continue;
      const key = `${number} ${itemId} ${branchId}`;
      left.set(key, (left.get(key) ?? 0) + (action === "DEDUCT" ? quantity : -quantity));
    }
    const tooMuch = [...left].filter(([, quantity]) => quantity < 0);
    if (tooMuch.length > 0) throw new Error(`more went back than was taken: ${JSON.stringify(tooMuch)}`);
  });

  function refund(invoice: string, more: Partial<RefundRequest> = {}): Promise<SaleOutcome> {
    const request = { reason: "06", traderInvoiceNumber: noteOf(invoice), restock: true, ...more } as const;
    return rig.starter.refund({ invoice }, request, { waitSeconds: 20 });
  }

  /** What the most pressing attention says. */
  const neededBy = async (invoice: string): Promise<string | undefined> =>
    (await rig.starter.getSale({ invoice })).attentions[0]?.message;

  /** The stage that the ledger has of a sale. */
  const kept = async (invoice: string): Promise<string | undefined> => (await found(invoice))?.stage;

  async function found(traderInvoiceNumber: string): Promise<{ stage: string; isThrough: boolean } | null> {
    const asked = { workflowId: `asked-${traderInvoiceNumber}-${Date.now()}`, taskQueue: MAIN_TASK_QUEUE };
    const args = [{ connection: "default", businessId: "biz_1", traderInvoiceNumber }];
    const answer = await rig.client.workflow.execute("findSale", { ...asked, args });
    return (answer as { found: { stage: string; isThrough: boolean } | null }).found;
  }

  async function sold(invoice: string, more: Partial<SaleInput> = {}): Promise<void> {
    await start(invoice, more);
    if (more.refundWindow === undefined) await result(invoice);
    else await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
  }

  describe("within the window", () => {
    const open = { refundWindow: "1 hour" };

    test("go back to the branch of the sale", async () => {
      await sold("IN-BRANCH", { ...open, branch: "branch_2" });
      await refund("IN-BRANCH");
      await result("IN-BRANCH");
      expect(bookedFor("IN-BRANCH")).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
    });

    test.each([["IN-PRICES", open] as const, ["AFTER-PRICES", {}] as const])(
      "go back at each price where no single price is exact: %s",
      async (invoice, window) => {
        const tea = (quantity: number, unitPrice: number) => ({ itemId: "item_tea", quantity, unitPrice });
        await sold(invoice, { ...window, lines: [tea(1, 1_000_000), tea(2, 2_000_000)] });
        await refund(invoice);
        await result(invoice);
        expect(bookedFor(invoice)).toHaveLength(4);
        const booked = rig.simulator.books().movements.filter(({ referenceId }) => referenceId?.includes(invoice));
        const moved = booked.map(({ action, quantity, unitPrice }) => ({
          action,
          quantity,
          unitPrice: unitPrice ?? 0,
        }));
        const worth = (wanted: string) => worthOf(moved.filter(({ action }) => action === wanted));
        expect([worth("DEDUCT"), worth("ADD")]).toEqual(["5000000", "5000000"]);
      },
    );

    test("do not go back where the movement was refused and given up", async () => {
      rig.simulator.inject({ ...REFUSED, match: { referenceId: "IN-PART/item_tea/sold" } });
      await start("IN-PART", { ...open, lines: [TEA, FLOUR] });
      await parked("IN-PART", "stock-refused");
      await rig.starter.acknowledge({ invoice: "IN-PART" }, { code: "stock-refused", note: "booked by hand" });
      await refund("IN-PART");
      await result("IN-PART");
      expect(bookedFor("IN-PART")).toEqual(["DEDUCT 1 item_flour branch_1", "ADD 1 item_flour branch_1"]);
    });

    test("go back only once an unknown movement is resolved as applied", async () => {
      rig.simulator.inject({ ...LOST, when: "after", match: { referenceId: "IN-UNKNOWN/item_tea/sold" } });
      await start("IN-UNKNOWN", { ...open, branch: "branch_2" });
      const { attentions } = await parked("IN-UNKNOWN", "stock-unknown");
      await refund("IN-UNKNOWN");
      expect(bookedFor("IN-UNKNOWN")).toEqual(["DEDUCT 2 item_tea branch_2"]);
      const referenceId = attentions[0]?.subject ?? "";
      await rig.starter.resolveStock({ invoice: "IN-UNKNOWN" }, { referenceId, applied: true, note: "in the journal" });
      expect((await result("IN-UNKNOWN")).stockMovements).toMatchObject([
        { state: "applied", branchId: "branch_2" },
        { purpose: "restocked", branchId: "branch_2", undoes: referenceId },
      ]);
      expect(bookedFor("IN-UNKNOWN")).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
    });

    test("are refused in the request for a sale that moved nothing, unless it names the branch", async () => {
      decided.add("IN-OFF");
      await sold("IN-OFF", { ...open, stock: "off", branch: "branch_2" });
      await expect(refund("IN-OFF")).rejects.toThrow(/took nothing from stock.*name the branch/);
      expect(await refund("IN-OFF", { branch: "branch_2" })).toMatchObject({ stage: "credited" });
      expect(await result("IN-OFF")).toMatchObject({ stockMovements: [{ purpose: "restocked", state: "applied" }] });
      expect(bookedFor("IN-OFF")).toEqual(["ADD 2 item_tea branch_2"]);
    });

    test("are refused in the request where it names a branch for goods that the sale took", async () => {
      await sold("IN-CHOSEN", open);
      await expect(refund("IN-CHOSEN", { branch: "branch_2" })).rejects.toThrow(/leave branch out/);
      await refund("IN-CHOSEN");
      await result("IN-CHOSEN");
      expect(bookedFor("IN-CHOSEN")).toEqual(["DEDUCT 2 item_tea branch_1", "ADD 2 item_tea branch_1"]);
    });

    test("of a restock that came as a signal for a sale that took nothing need an operator", async () => {
      await sold("IN-SIGNAL", { ...open, stock: "off" });
      const request = { reason: "06", traderInvoiceNumber: "CN-IN-SIGNAL", restock: true };
      await handleOf("IN-SIGNAL").signal("refundRequested", request);
      const state = await parked("IN-SIGNAL", "stock-refused");
      expect(state.attentions[0]?.message).toMatch(/^Nothing was restocked/);
      await rig.starter.acknowledge({ invoice: "IN-SIGNAL" }, { code: "stock-refused", note: "counted" });
      expect(await result("IN-SIGNAL")).toMatchObject({ stage: "credited" });
      expect(bookedFor("IN-SIGNAL")).toEqual([]);
    });
  });

  describe("after the window", () => {
    test("go back to the branch from which each was taken", async () => {
      await sold("AFTER-BRANCH", { branch: "branch_2", lines: [TEA, FLOUR] });
      await refund("AFTER-BRANCH");
      await result("AFTER-BRANCH");
      expect(bookedFor("AFTER-BRANCH").toSorted()).toEqual([
        "ADD 1 item_flour branch_2",
        "ADD 2 item_tea branch_2",
        "DEDUCT 1 item_flour branch_2",
        "DEDUCT 2 item_tea branch_2",
      ]);
    });

    test("go back to the branch of a movement that an operator resolved as applied", async () => {
      rig.simulator.inject({ ...LOST, when: "after", match: { referenceId: "AFTER-RESOLVED/item_tea/sold" } });
      await start("AFTER-RESOLVED", { branch: "branch_2" });
      const { attentions } = await parked("AFTER-RESOLVED", "stock-unknown");
      const referenceId = attentions[0]?.subject ?? "";
      await rig.starter.resolveStock({ invoice: "AFTER-RESOLVED" }, { referenceId, applied: true, note: "seen" });
      await result("AFTER-RESOLVED");
      await refund("AFTER-RESOLVED");
      await result("AFTER-RESOLVED");
      expect(bookedFor("AFTER-RESOLVED")).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
    });

    test("do not go back where the movement was refused and given up", async () => {
      rig.simulator.inject({ ...REFUSED, match: { referenceId: "AFTER-REFUSED/item_tea/sold" } });
      await start("AFTER-REFUSED");
      await parked("AFTER-REFUSED", "stock-refused");
      await rig.starter.acknowledge({ invoice: "AFTER-REFUSED" }, { code: "stock-refused", note: "booked by hand" });
      await result("AFTER-REFUSED");
      await expect(refund("AFTER-REFUSED")).rejects.toThrow(NotAllowedError);
      expect(await refund("AFTER-REFUSED", { restock: false })).toMatchObject({ stage: "credited" });
      expect(bookedFor("AFTER-REFUSED")).toEqual([]);
    });

    test("of an adopted sale go back only to a branch that the request names, as an operator's decision", async () => {
      decided.add("AFTER-ADOPTED");
      const adopted = { businessId: "biz_1", traderInvoiceNumber: "AFTER-ADOPTED", lines: [TEA] };
      rig.simulator.issueSale({ id: "sal_adopted", ...adopted, status: "completed" });
      await sold("AFTER-ADOPTED", { saleId: "sal_adopted", lines: [TEA] });
      await expect(refund("AFTER-ADOPTED")).rejects.toThrow(/took nothing from stock/);
      await refund("AFTER-ADOPTED", { branch: "01" });
      const { stockMovements } = await result("AFTER-ADOPTED");
      expect(stockMovements).toMatchObject([{ purpose: "restocked", branchId: "branch_2", state: "applied" }]);
      expect(stockMovements[0]).not.toHaveProperty("undoes");
      expect(bookedFor("AFTER-ADOPTED")).toEqual(["ADD 2 item_tea branch_2"]);
    });

    test("go back for each item that the catalogue has; the others wait until it has them", async () => {
      decided.add("AFTER-GONE");
      const gone = { itemId: "item_gone", quantity: 3, unitPrice: 50 };
      rig.simulator.addItem({ id: "item_gone", businessId: "biz_1", name: "Sugar", unitPrice: 50, stockTracked: true });
      const adopted = { businessId: "biz_1", traderInvoiceNumber: "AFTER-GONE", lines: [gone, TEA] };
      rig.simulator.issueSale({ id: "sal_gone", ...adopted, status: "completed" });
      await sold("AFTER-GONE", { saleId: "sal_gone", lines: undefined });
      rig.simulator.updateItem("item_gone", { deleted: true });
      await refund("AFTER-GONE", { branch: "01" });
      await expect.poll(() => neededBy("AFTER-GONE")).toBe('Not returned to stock: no item has itemId "item_gone"');
      await expect.poll(() => bookedFor("AFTER-GONE")).toEqual(["ADD 2 item_tea branch_2"]);
      rig.simulator.updateItem("item_gone", { deleted: false });
      await rig.starter.retry({ invoice: "AFTER-GONE" }, { note: "put back" });
      expect(await result("AFTER-GONE")).toMatchObject({ stage: "credited" });
      expect(bookedFor("AFTER-GONE")).toEqual(["ADD 2 item_tea branch_2", "ADD 3 item_gone branch_2"]);
    });

    test("of a sale that was reset go back once, to its branch", async () => {
      await sold("AFTER-RESET", { branch: "branch_2" });
      await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice: "AFTER-RESET" }));
      await result("AFTER-RESET");
      await refund("AFTER-RESET");
      await result("AFTER-RESET");
      expect(bookedFor("AFTER-RESET")).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
    });

    test("of a sale that was given back when it was cancelled, and completed elsewhere, do not go back twice", async () => {
      rig.simulator.setAuthority("UNDONE-1", [{ do: "reject", afterMs: 500, reason: "no" }]);
      await start("UNDONE-1");
      const { document } = await parked("UNDONE-1", "rejected");
      await rig.starter.cancel({ invoice: "UNDONE-1" }, { reason: "mistyped" });
      expect(await result("UNDONE-1")).toMatchObject({ stage: "cancelled" });
      rig.simulator.setAuthority("UNDONE-1", [{ do: "accept" }]);
      const headers = { "x-api-key": "cmp_sk_test_simulator" };
      await fetch(`${rig.simulator.url}/v1/sales/${document?.id}/retry?businessId=biz_1`, { method: "POST", headers });
      await resetRun(rig.client, rig.namespace, rig.starter.workflowId({ invoice: "UNDONE-1" }));
      await rig.stateWhen("UNDONE-1", ({ stage }) => stage === "completed");
      await parked("UNDONE-1", "stock-refused");
      await rig.starter.acknowledge({ invoice: "UNDONE-1" }, { code: "stock-refused", note: "counted" });
      expect(await result("UNDONE-1")).toMatchObject({ stage: "completed" });
      expect(await refund("UNDONE-1")).toMatchObject({ stage: "credited" });
      await parked("UNDONE-1", "stock-refused");
      expect(await neededBy("UNDONE-1")).toMatch(/^Nothing was restocked/);
      await rig.starter.acknowledge({ invoice: "UNDONE-1" }, { code: "stock-refused", note: "counted" });
      expect(await result("UNDONE-1")).toMatchObject({ stage: "credited" });
      expect(bookedFor("UNDONE-1")).toEqual(["DEDUCT 2 item_tea branch_1", "ADD 2 item_tea branch_1"]);
    });

    test("to an unknown branch wait for an operator, who can give the return up", async () => {
      await sold("NO-BRANCH", { stock: "off" });
      expect(await refund("NO-BRANCH", { branch: "99" })).toMatchObject({ stage: "credited" });
      await expect.poll(() => neededBy("NO-BRANCH")).toMatch(/^Not returned to stock: The business has no branch "99"/);
      await rig.starter.acknowledge({ invoice: "NO-BRANCH" }, { code: "stock-refused", note: "typed wrongly" });
      expect(await result("NO-BRANCH")).toMatchObject({ stage: "credited", stockMovements: [] });
      expect(bookedFor("NO-BRANCH")).toEqual([]);
    });

    test("that an operator gave up are not asked for again", async () => {
      // Since then the branch was closed.
      const body = { data: { movementId: "mov_gone", branchId: "branch_gone" } };
      const gone = { operation: "adjustStock", when: "after", kind: "status", status: 201, body, times: 1 } as const;
      rig.simulator.inject({ ...gone, match: { referenceId: "GIVEN-UP/item_tea/sold" } });
      await sold("GIVEN-UP");
      await refund("GIVEN-UP");
      const { attentions } = await parked("GIVEN-UP", "stock-refused");
      expect(attentions).toMatchObject([{ subject: "GIVEN-UP/item_tea/sold" }]);
      expect(await found("GIVEN-UP")).toMatchObject({ isThrough: false });
      await rig.starter.acknowledge({ invoice: "GIVEN-UP" }, { code: "stock-refused", note: "booked by hand" });
      await result("GIVEN-UP");
      expect(await found("GIVEN-UP")).toMatchObject({ stage: "credited", isThrough: true });
    });

    test("go back once where the sale is reset in the middle of its restock", async () => {
      await sold("RESET-RESTOCK", { refundWindow: "1 hour", branch: "branch_2", lines: [TEA, FLOUR] });
      await refund("RESET-RESTOCK");
      await result("RESET-RESTOCK");
      const before = bookedFor("RESET-RESTOCK");
      const workflowId = rig.starter.workflowId({ invoice: "RESET-RESTOCK" });
      await resetRun(rig.client, rig.namespace, workflowId, { activity: "adjustStock", last: true });
      expect(await result("RESET-RESTOCK")).toMatchObject({ stage: "credited" });
      expect(bookedFor("RESET-RESTOCK")).toEqual(before);
      expect(before).toHaveLength(4);
    });

    test("of a completed sale whose workflow was terminated are returned through the starter", async () => {
      await sold("TERMINATED-OPEN", { refundWindow: "1 hour", branch: "branch_2" });
      await expect
        .poll(async () => (await rig.starter.getSale({ invoice: "TERMINATED-OPEN" })).stockMovements[0]?.state)
        .toBe("applied");
      await expect.poll(() => kept("TERMINATED-OPEN")).toBe("completed");
      await handleOf("TERMINATED-OPEN").terminate("by mistake");
      expect(await refund("TERMINATED-OPEN")).toMatchObject({ stage: "credited" });
      await result("TERMINATED-OPEN");
      expect(bookedFor("TERMINATED-OPEN")).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
    });

    test.each([
      { invoice: "TERMINATED-YES", when: "after", applied: true },
      // What was not taken is taken then, and goes back too.
      { invoice: "TERMINATED-NO", when: "before", applied: false },
      // The claim keeps the earlier word.
      { invoice: "TERMINATED-BOTH", when: "after", applied: false, earlier: true },
    ] as const)(
      "of a terminated sale with an unknown movement wait for an operator's decision ($invoice)",
      async ({ invoice, when, applied, ...word }) => {
        rig.simulator.inject({ ...LOST, when, match: { referenceId: `${invoice}/item_tea/sold` } });
        await start(invoice, { branch: "branch_2" });
        await parked(invoice, "stock-unknown");
        await handleOf(invoice).terminate("by mistake");
        expect(await refund(invoice)).toMatchObject({ stage: "credited" });
        const referenceId = `${invoice}/item_tea/sold`;
        const { attentions } = await parked(invoice, "stock-unknown");
        expect(attentions).toMatchObject([{ code: "stock-unknown", subject: referenceId }]);
        expect(bookedFor(invoice).filter((line) => line.startsWith("ADD"))).toEqual([]);
        if ("earlier" in word) saidByAnother = referenceId;
        await rig.starter.resolveStock({ invoice }, { referenceId, applied, note: "looked it up" });
        const { stockMovements } = await result(invoice);
        expect(bookedFor(invoice)).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
        const kept =
          "earlier" in word ? { applied: true, by: "njeri", atMs: 1_000 } : { applied, note: "looked it up" };
        const asked = stockMovements.find((one) => one.referenceId === referenceId);
        expect(asked).toMatchObject({ decision: kept });
      },
    );
  });

  test("of a terminated sale go back where a late answer says that they were taken", async () => {
    const referenceId = "LATE-1/item_tea/sold";
    rig.simulator.inject({ ...LOST, when: "after", match: { referenceId } });
    await start("LATE-1", { branch: "branch_2" });
    await parked("LATE-1", "stock-unknown");
    const token = tokens.get(referenceId) ?? "";
    await handleOf("LATE-1").terminate("by mistake");
    await refund("LATE-1");
    await expect.poll(() => neededBy("LATE-1")).toMatch(/no answer says whether it was applied/);
    const key = { connection: "default", businessId: "biz_1", referenceId };
    const outcome = { kind: "applied", movementId: "mov_late", sentAtMs: Date.now(), branchId: "branch_2" } as const;
    await rig.ledger.stock.settle({ ...key, generation: 1, token, outcome, writer: SOMEBODY });
    const { stockMovements } = await result("LATE-1");
    expect(stockMovements).toMatchObject([
      { referenceId, state: "applied", movementId: "mov_late", branchId: "branch_2" },
      { purpose: "restocked", undoes: referenceId, branchId: "branch_2", state: "applied" },
    ]);
    expect(bookedFor("LATE-1")).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
  });

  describe("of a sale that Temporal has deleted", () => {
    const forget = (invoice: string): Promise<void> => forgetWorkflow(rig, rig.starter.workflowId({ invoice }));

    test("go back once to the branch in the ledger, also when the run that credited it is deleted too", async () => {
      await sold("FORGOTTEN-1", { branch: "branch_2" });
      await forget("FORGOTTEN-1");
      expect(await rig.starter.getSale({ invoice: "FORGOTTEN-1" })).toMatchObject({ source: "ledger" });
      expect(await refund("FORGOTTEN-1", { returnDate: "2026-11-21" })).toMatchObject({ stage: "credited" });
      await result("FORGOTTEN-1");
      await forget("FORGOTTEN-1");
      expect(await refund("FORGOTTEN-1")).toMatchObject({ creditNote: { traderInvoiceNumber: "CN-FORGOTTEN-1" } });
      const otherwise = refund("FORGOTTEN-1", { reason: "03", restock: false });
      await expect(otherwise).rejects.toThrow(SaleConflictError);
      await expect(otherwise).rejects.toThrow(/reason is 06, not 03; restock is true, not false/);
      expect(bookedFor("FORGOTTEN-1")).toEqual(["DEDUCT 2 item_tea branch_2", "ADD 2 item_tea branch_2"]);
      expect(rig.simulator.documents("CN-FORGOTTEN-1")).toHaveLength(1);
    });

    test("are refused in the request where the sale moved nothing", async () => {
      await sold("FORGOTTEN-2", { stock: "off" });
      await forget("FORGOTTEN-2");
      await expect(refund("FORGOTTEN-2")).rejects.toThrow(/took nothing from stock/);
    });
  });

  describe("asked for a second time", () => {
    const first = { reason: "06", returnDate: "2026-11-21", restock: true } as const;
    const others = [
      { reason: "03" },
      { returnDate: "2026-11-20" },
      { restock: false },
      { traderInvoiceNumber: "CN-OTHER" },
    ] as const;

    test.each([
      ["within the window", "1 hour"],
      ["after the window", "0"],
    ])("with other content are a conflict that names the difference, %s", async (when, refundWindow) => {
      const invoice = `SECOND-${refundWindow === "0" ? "AFTER" : "IN"}`;
      await start(invoice, { refundWindow });
      await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
      if (refundWindow === "0") await result(invoice);
      // While the credit note is in flight, and once it is signed.
      rig.simulator.setAuthority(noteOf(invoice), [{ do: "down" }]);
      const request = { ...first, traderInvoiceNumber: noteOf(invoice) };
      if (refundWindow === "0") await rig.starter.refund({ invoice }, request);
      else await handleOf(invoice).signal("refundRequested", request);
      for (const signed of [false, true]) {
        if (signed) {
          rig.simulator.setAuthority(noteOf(invoice), [{ do: "accept" }]);
          await result(invoice);
        }
        for (const other of others) {
          const [field] = Object.keys(other);
          const refused = refund(invoice, { ...first, ...other });
          await expect(refused, `${when}: ${field}`).rejects.toThrow(SaleConflictError);
          await expect(refused).rejects.toThrow(new RegExp(`${field} is .*, not `));
        }
      }
      expect(await refund(invoice, { ...first })).toMatchObject({ stage: "credited" });
      expect(bookedFor(invoice)).toEqual(["DEDUCT 2 item_tea branch_1", "ADD 2 item_tea branch_1"]);
    });
  });
});
