import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the history of a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await eventsOf("WARM-UP");
  });
  afterAll(() => rig?.close());

  async function eventsOf(traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<number> {
    const input = {
      traderInvoiceNumber,
      lines: [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }],
      refundWindow: "0",
      ...more,
    };
    const { workflowId } = await rig.starter.startSale(input);
    const handle = rig.client.workflow.getHandle(workflowId);
    await handle.result();
    return (await handle.fetchHistory()).events?.length ?? 0;
  }

  test("stays under 32 events when it is accepted at once", async () => {
    expect(await eventsOf("ACCEPTED-1")).toBeLessThan(32);
  });

  test("stays under 50 events when it is in flight with a callback", async () => {
    rig.simulator.setAuthority("CALLBACK-1", [{ do: "accept", afterMs: 300 }]);
    expect(await eventsOf("CALLBACK-1")).toBeLessThan(50);
  });

  test("fails once, and not for ever, when a sale is started without any input", async () => {
    const options = { workflowId: "no-input", taskQueue: "fiscalflow", args: [] };
    await expect(rig.client.workflow.execute("sale", options)).rejects.toMatchObject({
      cause: { type: "InvalidInput" },
    });
    await expect(rig.client.workflow.execute("creditNote", options)).rejects.toMatchObject({
      cause: { type: "InvalidInput" },
    });
  });
});
