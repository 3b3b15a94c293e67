import { afterAll, beforeAll, expect, test } from "vitest";

import { MAIN_TASK_QUEUE, type SaleInput, type SaleOutcome, saleWorkflowId } from "../../src/contract/index.ts";
import { SaleConflictError } from "../../src/starter/index.ts";
import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

/** Decision 22: while the database is away nothing unrepeatable is sent, and nothing is lost. */
describeWithTemporal("while the database of the claims is away", () => {
  let rig: Rig;
  let line: CuttableLine;
  let onLine: RigOnLine;
  beforeAll(async () => {
    onLine = await startRigOnLine({
      timings: { callTimeoutMs: 1_500 },
    });
    ({ rig, line } = onLine);
  });
  afterAll(() => onLine?.close());

  const TEA = { itemId: "item_tea", quantity: 2, unitPrice: 350 };
  const idOf = (traderInvoiceNumber: string): string =>
    saleWorkflowId({ connection: "default", businessId: "biz_1", traderInvoiceNumber });
  const movementsOf = (invoice: string) =>
    rig.simulator.books().movements.filter(({ referenceId }) => referenceId?.startsWith(`${invoice}/`));

  async function start(traderInvoiceNumber: string, more: Partial<SaleInput> = {}) {
    await rig.starter.startSale({ traderInvoiceNumber, lines: [TEA], refundWindow: "0", ...more });
    return rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(idOf(traderInvoiceNumber));
  }

  test("a sale sends nothing, says what it waits for, and goes on by itself once it is back", async () => {
    line.cut();
    const handle = await start("AWAY-1");
    const waitsFor = async (): Promise<string> => (await rig.starter.getSale({ invoice: "AWAY-1" })).waitingFor;
    await expect.poll(waitsFor).toBe("the ledger, which does not answer");
    expect(rig.callsOf("AWAY-1")).toEqual([]);
    line.restore();
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(rig.callsOf("AWAY-1")).toEqual(["createSale", "adjustStock"]);
  });

  test("a sale that was started without the starter is known to its own content alone, also before it knows itself", async () => {
    line.cut();
    const input = { businessId: "biz_1", traderInvoiceNumber: "AWAY-2", lines: [TEA] };
    const refund = { reason: "06", traderInvoiceNumber: "CN-AWAY-2" } as const;
    const handle = await rig.client.workflow.start("sale", {
      workflowId: idOf("AWAY-2"),
      taskQueue: MAIN_TASK_QUEUE,
      args: [{ ...input, refund }],
    });
    const other = rig.starter.startSale({ ...input, lines: [{ ...TEA, quantity: 9 }] });
    await expect(other).rejects.toThrow(SaleConflictError);
    await expect(other).rejects.toThrow(`What differs: lines[0].quantity: 9, before ${TEA.quantity}. Nothing was`);
    expect(await rig.starter.startSale(input)).toMatchObject({ result: "known" });
    line.restore();
    expect(await handle.result()).toMatchObject({ stage: "credited" });
  });

  test("a document whose answer cannot be recorded is kept, and recorded once it is back", async () => {
    const slow = { operation: "createSale", when: "after", kind: "slow", delayMs: 500, times: 1 } as const;
    rig.simulator.inject({ ...slow, match: { invoice: "MADE-1" } });
    const handle = await start("MADE-1");
    await rig.simulator.until(() => rig.simulator.documents("MADE-1").length === 1);
    line.cut();
    await rig.stateWhen("MADE-1", ({ document }) => document?.status === "completed");
    line.restore();
    const done = await handle.result();
    await resetRun(rig.client, rig.namespace, idOf("MADE-1"));
    expect(await handle.result()).toMatchObject({ stage: "completed", sale: { id: done.sale?.id } });
    // Read once for the row, and once by the reset run.
    expect(rig.callsOf("MADE-1").toSorted()).toEqual(["adjustStock", "createSale", "readSale", "readSale"]);
  });

  test("an answer that cannot be recorded is kept, and recorded once it is back", async () => {
    const match = { referenceId: "KEPT-1/item_tea/sold" };
    const slow = { operation: "adjustStock", when: "after", kind: "slow", delayMs: 500, times: 1 } as const;
    rig.simulator.inject({ ...slow, match });
    const handle = await start("KEPT-1");
    await rig.simulator.until(() => movementsOf("KEPT-1").length === 1);
    line.cut();
    await rig.stateWhen("KEPT-1", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    line.restore();
    const done = await handle.result();
    await resetRun(rig.client, rig.namespace, idOf("KEPT-1"));
    expect(await handle.result()).toMatchObject({ stockMovements: done.stockMovements });
    expect(movementsOf("KEPT-1")).toHaveLength(1);
  });

  test("an outage of many tries adds no events to a sale's history", async () => {
    line.cut();
    const handle = await start("LONG-1");
    const waiting = async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.find(({ activityType }) => activityType?.name === "prepareSale");
    };
    await expect.poll(async () => (await waiting())?.attempt ?? 0).toBeGreaterThan(2);
    line.restore();
    await handle.result();
    const events = (await handle.fetchHistory()).events ?? [];
    expect(events.length).toBeLessThan(76);
  });
});
