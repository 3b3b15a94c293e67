import type { WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import {
  type FindSaleResult,
  jsonBytes,
  MAIN_TASK_QUEUE,
  type SaleInput,
  type SaleOutcome,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { payloadsOf } from "../../bench/engine/history-cost.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { findingsIn } from "../rig/findings-in.ts";

/** The most that the input takes. */
const LINES = 1_000;
/** From here on Temporal warns of a payload. */
const MOST_BYTES = 256 * 1024;
/** What carries the input, the items of its lines, or the request made of them; all else is smaller than this. */
const LARGE_BYTES = 64 * 1024;
const LARGE =
  /^(workflowExecutionStarted|(prepareSale|readItems|composeSale) .*|create(Sale|CreditNote) activityTaskScheduled)$/;
const BUSINESS = { connection: "default", businessId: "biz_1" };

describeWithTemporal("a sale of a thousand lines with long names", () => {
  const items = Array.from({ length: LINES }, (_, n) => ({
    id: `goods_0123456789abcdef_${n}`,
    businessId: "biz_1",
    name: `Goods ${n} `.padEnd(300, "of a long name "),
    unitPrice: 100,
  }));
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ simulator: { scenario: { items } } });
  });
  afterAll(() => rig?.close());

  async function start(traderInvoiceNumber: string, more: Partial<SaleInput>): Promise<WorkflowHandle> {
    const lines = items.map(({ id }) => ({ itemId: id, quantity: 2, unitPrice: 100 }));
    const { workflowId } = await rig.starter.startSale({ traderInvoiceNumber, lines, ...more });
    return rig.client.workflow.getHandle(workflowId);
  }

  /** What carries too much of what a history holds and the state tells. */
  async function tooLarge(handle: WorkflowHandle): Promise<string[]> {
    const largest = new Map<string, number>();
    const { events } = await handle.fetchHistory();
    for (const { of, bytes } of payloadsOf(events ?? [])) largest.set(of, Math.max(bytes, largest.get(of) ?? 0));
    expect(largest.size).toBeGreaterThan(5);
    largest.set("state", jsonBytes(await handle.query("state")));
    const mostOf = (of: string): number => (LARGE.test(of) ? MOST_BYTES : LARGE_BYTES);
    return [...largest].flatMap(([of, bytes]) => (bytes > mostOf(of) ? [`${of}: ${bytes}`] : []));
  }

  test("has no payload that Temporal warns of, and neither has the run that credits it with restock", async () => {
    const sale = await start("LARGE-1", { refundWindow: "0" });
    const sold = (await sale.result()) as SaleOutcome;
    expect(sold.inAll?.stockMovements).toEqual([{ purpose: "sold", state: "applied", count: LINES }]);
    expect(sold.sale).toMatchObject({ lines: [], linesLeftOut: { count: LINES } });
    expect(await tooLarge(sale)).toEqual([]);
    const refund = { reason: "06", traderInvoiceNumber: "CN-LARGE-1", restock: true } as const;
    await rig.starter.refund({ invoice: "LARGE-1" }, refund, { waitSeconds: 0 });
    const again = rig.client.workflow.getHandle(sale.workflowId);
    const credited = (await again.result()) as SaleOutcome;
    expect(credited).toMatchObject({ stage: "credited", creditNote: { lines: [], linesLeftOut: { count: LINES } } });
    const moved = credited.inAll?.stockMovements ?? credited.stockMovements;
    expect(moved.some(({ purpose, state }) => purpose === "restocked" && state === "applied")).toBe(true);
    expect(await tooLarge(again)).toEqual([]);
    const { movements } = rig.simulator.books();
    expect(movements.filter(({ referenceId }) => referenceId?.startsWith("CN-LARGE-1/"))).toHaveLength(LINES);
  }, 300_000);

  test("is complete in the ledger with its credit note, and both fit into one payload", async () => {
    const sale = await start("LARGE-2", { stock: "off" });
    await rig.stateWhen("LARGE-2", ({ stage }) => stage === "completed");
    await rig.starter.refund({ invoice: "LARGE-2" }, { reason: "06", traderInvoiceNumber: "CN-LARGE-2" });
    const outcome = (await sale.result()) as SaleOutcome;
    expect(outcome).toMatchObject({ stage: "credited", creditNote: { lines: [], linesLeftOut: { count: LINES } } });
    expect(await tooLarge(sale)).toEqual([]);
    for (const number of ["LARGE-1", "LARGE-2"]) {
      const kept = await rig.ledger.documents.findSale(BUSINESS, number);
      for (const document of [kept?.record.document, kept?.creditNote?.record.document]) {
        expect(document?.lines.map(({ itemId, name }) => [itemId, name])).toEqual(
          items.map(({ id, name }) => [id, name]),
        );
        expect(document).not.toHaveProperty("linesLeftOut");
      }
      expect(kept?.record.content?.lines).toHaveLength(LINES);
      // Taken, and given back.
      expect(kept?.record.movements.length).toBe(number === "LARGE-1" ? 2 * LINES : 0);
    }
    expect(await findingsIn(rig.ledger)).toEqual([]);
    const input = { ...BUSINESS, traderInvoiceNumber: "LARGE-1" };
    const options = { workflowId: "find", taskQueue: MAIN_TASK_QUEUE, args: [input] };
    const { found } = (await rig.client.workflow.execute(WORKFLOW_TYPES.findSale, options)) as FindSaleResult;
    expect(found?.inAll?.stockMovements).toEqual([
      { purpose: "sold", state: "applied", count: LINES },
      { purpose: "restocked", state: "applied", count: LINES },
    ]);
    expect(jsonBytes(found)).toBeLessThan(MOST_BYTES);
  }, 300_000);
});
