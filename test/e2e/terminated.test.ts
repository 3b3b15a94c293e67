import type { WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { MAIN_TASK_QUEUE, type SaleInput, type SaleOutcome, SIGNALS } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { Held } from "../rig/held.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

type Take = Parameters<Ledger["stock"]["take"]>[0];

describeWithTemporal("a sale that was terminated and is started again", () => {
  let rig: Rig;
  const notes = new Map<string, Held>();
  const takes = new Map<string, Held>();
  const lists = new Map<string, Held>();
  const held = (by: Map<string, Held>, key: string): Held => {
    const one = new Held();
    by.set(key, one);
    return one;
  };
  beforeAll(async () => {
    rig = await startRig({
      timings: { callTimeoutMs: 1_000 },
      withLedger: (real) => ({
        ...real,
        documents: {
          ...real.documents,
          note: (business, told, writer) => {
            const first = notes.get(told.number);
            return first
              ? first.pass(() => real.documents.note(business, told, writer))
              : real.documents.note(business, told, writer);
          },
        },
        stock: {
          ...real.stock,
          take: (request: Take) => {
            const key = `${request.referenceId.split("/")[0] ?? ""} ${request.generation}`;
            const first = takes.get(key);
            takes.delete(key);
            return first ? first.pass(() => real.stock.take(request)) : real.stock.take(request);
          },
          goodsTaken: (request) => {
            const first = lists.get(request.number);
            return first ? first.pass(() => real.stock.goodsTaken(request)) : real.stock.goodsTaken(request);
          },
        },
      }),
    });
  });
  afterAll(() => rig?.close());
  const { start, handleOf, movementsOf, parked } = salesOf(() => rig);
  const kept = async (number: string) =>
    (await rig.ledger.documents.findSale({ connection: "default", businessId: "biz_1" }, number))?.record;
  const again = (number: string, more: Partial<SaleInput> = {}): Promise<WorkflowHandle<() => Promise<SaleOutcome>>> =>
    rig.client.workflow.start("sale", {
      workflowId: rig.starter.workflowId({ invoice: number }),
      taskQueue: MAIN_TASK_QUEUE,
      args: [{ traderInvoiceNumber: number, lines: [TEA], refundWindow: "0", ...more }],
    });
  const until = async (holds: () => unknown): Promise<void> => {
    await vi.waitUntil(holds, { timeout: PATIENCE_MS, interval: 20 });
  };

  test("before it moved its stock on completion moves it once, however late its first try comes", async () => {
    const first = held(takes, "ENDED-1 1");
    rig.simulator.setAuthority("ENDED-1", [{ do: "accept", afterMs: 200 }]);
    await start("ENDED-1", { stock: "on-completion" });
    await until(() => first.calls === 1);
    await handleOf("ENDED-1").terminate("by mistake");
    // The row says that it is signed, and how many movements it was to make.
    expect(await kept("ENDED-1")).toMatchObject({ stage: "completed", movementsPlanned: 1, movements: [] });

    const handle = await again("ENDED-1", { stock: "on-completion" });
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(movementsOf("ENDED-1")).toHaveLength(1);
    first.release();
    await until(() => first.answers === 1);
    expect(rig.callsOf("ENDED-1").filter((call) => call === "adjustStock")).toHaveLength(1);
  });

  test("before its total was compared compares it in the new run", async () => {
    rig.simulator.setAuthority("TOTAL-1", [{ do: "accept", afterMs: 300 }]);
    const expectedTotal = 1;
    // The row says that the sale is signed, and not yet that an operator is needed.
    const note = held(notes, "TOTAL-1");
    await start("TOTAL-1", { expectedTotal });
    await parked("TOTAL-1", "mismatch");
    await until(() => note.calls === 1);
    expect(await kept("TOTAL-1")).toMatchObject({ stage: "completed", attentions: [] });
    await handleOf("TOTAL-1").terminate("by mistake");
    notes.delete("TOTAL-1");
    note.release();
    await again("TOTAL-1", { expectedTotal });
    await parked("TOTAL-1", "mismatch");
    await rig.starter.acknowledge({ invoice: "TOTAL-1" }, { code: "mismatch", note: "a discount" });
    expect(await handleOf("TOTAL-1").result()).toMatchObject({ stage: "completed" });
  });

  test("keeps its receipt while it sends a movement again by an operator's decision in the earlier run", async () => {
    const match = { referenceId: "ANSWERED-1/item_tea/sold" };
    rig.simulator.inject({ operation: "adjustStock", kind: "drop", times: 1, when: "before", match });
    rig.simulator.setAuthority("ANSWERED-1", [{ do: "down" }]);
    await start("ANSWERED-1");
    const { attentions } = await parked("ANSWERED-1", "stock-unknown");
    const second = held(takes, "ANSWERED-1 2");
    const word = { referenceId: attentions[0]?.subject ?? "", applied: false, note: "not in the books" };
    await rig.starter.resolveStock({ invoice: "ANSWERED-1" }, word);
    await until(() => second.calls === 1);
    await handleOf("ANSWERED-1").terminate("by mistake");
    const third = held(takes, "ANSWERED-1 2");
    await again("ANSWERED-1");
    await until(() => third.calls === 1);
    rig.simulator.setAuthority("ANSWERED-1", [{ do: "accept" }]);
    await expect
      .poll(() => kept("ANSWERED-1"))
      .toMatchObject({ document: { status: "completed" }, movements: [{ state: "planned" }] });
    third.release();
    second.release();
    await handleOf("ANSWERED-1").result();
  });

  test("answers for a refund only once its row has it", async () => {
    await start("ASKED-1", { refundWindow: "1 hour" });
    await rig.stateWhen("ASKED-1", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    const note = held(notes, "ASKED-1");
    rig.simulator.setAuthority("CN-ASKED-1", [{ do: "down" }]);
    let isAnswered = false;
    const refund = { reason: "06", traderInvoiceNumber: "CN-ASKED-1" } as const;
    const asked = rig.starter.refund({ invoice: "ASKED-1" }, refund).then((outcome) => {
      isAnswered = true;
      return outcome;
    });
    // Nothing but the note is missing.
    await until(() => rig.simulator.documents("CN-ASKED-1").length === 1 && note.calls === 1);
    expect(isAnswered).toBe(false);
    notes.delete("ASKED-1");
    note.release();
    expect(await asked).toMatchObject({ stage: "crediting" });
    expect(await kept("ASKED-1")).toMatchObject({ refund });
    rig.simulator.setAuthority("CN-ASKED-1", [{ do: "accept" }]);
    await handleOf("ASKED-1").result();
  });

  test("answers for a cancellation and an acknowledgement only once its row has them, so that neither is lost with its run", async () => {
    const [invoice, expectedTotal] = ["ASKED-2", 1];
    rig.simulator.setAuthority(invoice, [{ do: "down" }]);
    await start(invoice, { expectedTotal });
    await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
    const answers: string[] = [];
    const answered = async (what: string, reply: Promise<unknown>): Promise<void> => {
      await reply;
      answers.push(what);
    };

    const wish = held(notes, invoice);
    const cancelled = answered("cancel", rig.starter.cancel({ invoice }, { reason: "a wrong PIN" }));
    await until(() => wish.calls === 1);
    await rig.stateWhen(invoice, ({ cancelRequested }) => cancelRequested !== undefined);
    expect(answers).toEqual([]);
    notes.delete(invoice);
    wish.release();
    await cancelled;
    expect(await kept(invoice)).toMatchObject({ cancelRequested: "a wrong PIN" });

    rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    await parked(invoice, "mismatch");
    await expect.poll(() => kept(invoice)).toMatchObject({ attentions: [{ code: "mismatch" }] });
    const word = held(notes, invoice);
    const seen = { code: "mismatch", note: "a discount" } as const;
    const acknowledged = answered("acknowledge", rig.starter.acknowledge({ invoice }, seen));
    await until(() => word.calls === 1);
    await rig.stateWhen(invoice, ({ attentions }) => attentions.length === 0);
    expect(answers).toEqual(["cancel"]);
    notes.delete(invoice);
    word.release();
    await acknowledged;
    expect(await kept(invoice)).toMatchObject({ attentions: [] });
  });

  test("after it took the signal of a refund before its signature carries that out", async () => {
    rig.simulator.setAuthority("EARLY-1", [{ do: "down" }]);
    await start("EARLY-1");
    await rig.stateWhen("EARLY-1", ({ stage }) => stage === "awaiting-authority");
    const refund = { reason: "06", traderInvoiceNumber: "CN-EARLY-1" } as const;
    await handleOf("EARLY-1").signal(SIGNALS.refundRequested, refund);
    await expect.poll(() => kept("EARLY-1")).toMatchObject({ stage: "awaiting-authority", refund });
    await handleOf("EARLY-1").terminate("by mistake");
    rig.simulator.setAuthority("EARLY-1", [{ do: "accept" }]);
    expect(await (await again("EARLY-1")).result()).toMatchObject({
      stage: "credited",
      creditNote: { traderInvoiceNumber: "CN-EARLY-1" },
    });
  });

  test("after its credit note was signed and before its goods were returned returns them, however it is started again", async () => {
    await start("RETURN-1", { refundWindow: "1 hour" });
    await rig.stateWhen("RETURN-1", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    const list = held(lists, "RETURN-1");
    const refund = { reason: "06", traderInvoiceNumber: "CN-RETURN-1", restock: true } as const;
    await rig.starter.refund({ invoice: "RETURN-1" }, refund);
    await until(() => list.calls === 1);
    await expect.poll(async () => (await kept("RETURN-1"))?.stage).toBe("credited");
    await handleOf("RETURN-1").terminate("by mistake");
    list.release();
    await again("RETURN-1", { refundWindow: "1 hour" });
    expect(await handleOf("RETURN-1").result()).toMatchObject({ stage: "credited" });
    const actions = [...movementsOf("RETURN-1"), ...movementsOf("CN-RETURN-1")].map(({ action }) => action);
    expect(actions).toEqual(["DEDUCT", "ADD"]);
  });
});
