import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { Secret } from "../../src/config/index.ts";
import { type SaleInput, type SaleOutcome, saleWorkflowId } from "../../src/contract/index.ts";
import type { CuttableLine } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { resetRun } from "../rig/reset-run.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

/** Architecture, decision 6: while the database is away nothing unrepeatable is sent, and nothing is lost. */
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

  test("a sale is signed, its movement waits, and both complete once it is back", async () => {
    line.cut();
    const handle = await start("AWAY-1");
    const state = await rig.stateWhen("AWAY-1", ({ document, stockMovements }) => {
      return document?.status === "completed" && stockMovements[0]?.state === "planned";
    });
    expect(state.attentions).toEqual([]);
    expect(rig.callsOf("AWAY-1")).toEqual(["createSale"]);
    line.restore();
    const done = await handle.result();
    expect(done).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(rig.callsOf("AWAY-1")).toEqual(["createSale", "adjustStock"]);
    // The claims know of the document that was made without them.
    await resetRun(rig.client, rig.namespace, idOf("AWAY-1"));
    expect(await handle.result()).toMatchObject({ stage: "completed", sale: { id: done.sale?.id } });
    expect(rig.callsOf("AWAY-1")).toEqual(["createSale", "adjustStock", "readSale"]);
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
    await rig.stateWhen("LONG-1", ({ stockMovements }) => stockMovements[0]?.state === "planned");
    const waiting = async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.find(({ activityType }) => activityType?.name === "awaitLedger");
    };
    await expect.poll(async () => (await waiting())?.attempt ?? 0).toBeGreaterThan(2);
    line.restore();
    await handle.result();
    const events = (await handle.fetchHistory()).events ?? [];
    expect(events.length).toBeLessThan(76);
  });
});

/** A history speaks where the claims cannot: the database is new, or was lost. */
describeWithTemporal("after the database of the claims was lost", () => {
  test("a restarted sale reads from Temporal what its earlier run did", async () => {
    const rig = await startRig({ timings: { callTimeoutMs: 1_500 } });
    try {
      const invoice = "LOST-LEDGER-1";
      const lines = [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }];
      await rig.starter.startSale({ traderInvoiceNumber: invoice, lines, refundWindow: "0" });
      const handle = rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(idOfSale(invoice));
      const first = await handle.result();
      await rig.stopWorkers();
      rig.config.ledger.url = new Secret(await freshDatabase(inject("ledgerServerUrl")));
      await rig.startWorkers();
      rig.simulator.forgetIdempotencyKeys();
      await resetRun(rig.client, rig.namespace, idOfSale(invoice));
      const second = await handle.result();
      expect(second).toMatchObject({ stage: "completed", sale: { id: first.sale?.id } });
      expect(second.stockMovements[0]?.movementId).toBe(first.stockMovements[0]?.movementId);
      expect(rig.callsOf(invoice)).toEqual(["createSale", "adjustStock", "readSale"]);
    } finally {
      await rig.close();
    }
  });

  const idOfSale = (traderInvoiceNumber: string): string =>
    saleWorkflowId({ connection: "default", businessId: "biz_1", traderInvoiceNumber });
});
