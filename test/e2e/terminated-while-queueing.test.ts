import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { MAIN_TASK_QUEUE } from "../../src/contract/index.ts";
import { type Ledger } from "../../src/ledger/index.ts";
import { ledgerOf } from "../../src/worker/ledger-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale that moves its stock on completion and is terminated while its movement queues", () => {
  let rig: Rig;
  let ledger: Ledger;
  /** What each try of the movement was answered by its claim, in the order of the tries; the first one waits for its release. */
  const takes: (string | undefined)[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  beforeAll(async () => {
    rig = await startRig({
      withLedger: (real) => ({
        ...real,
        stock: {
          ...real.stock,
          take: async (request) => {
            const nth = takes.push(undefined) - 1;
            if (nth === 0) await released;
            const taken = await real.stock.take(request);
            takes[nth] = taken.kind;
            return taken;
          },
        },
      }),
    });
    ledger = ledgerOf(rig.config);
  });
  afterAll(async () => {
    release();
    await ledger?.close();
    await rig?.close();
  });
  const { start, handleOf, movementsOf } = salesOf(() => rig);

  test("is no finished sale: started again, it moves its stock once, however late the first try comes", async () => {
    rig.simulator.setAuthority("ENDED-1", [{ do: "accept", afterMs: 200 }]);
    await start("ENDED-1", { stock: "on-completion" });
    await vi.waitUntil(() => takes.length === 1, { timeout: PATIENCE_MS, interval: 20 });
    await handleOf("ENDED-1").terminate("by mistake");
    const kept = await ledger.records.findSale({ connection: "default", businessId: "biz_1" }, "ENDED-1");
    expect(kept?.record.stage).not.toBe("completed");

    const again = await rig.client.workflow.start("sale", {
      workflowId: rig.starter.workflowId({ invoice: "ENDED-1" }),
      taskQueue: MAIN_TASK_QUEUE,
      args: [{ traderInvoiceNumber: "ENDED-1", lines: [TEA], refundWindow: "0", stock: "on-completion" }],
    });
    expect(await again.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(movementsOf("ENDED-1")).toHaveLength(1);

    release();
    await vi.waitUntil(() => takes[0] !== undefined, { timeout: PATIENCE_MS, interval: 20 });
    expect(takes[0]).not.toBe("taken");
    expect(rig.callsOf("ENDED-1").filter((call) => call === "adjustStock")).toHaveLength(1);
  });
});
