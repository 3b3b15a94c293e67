import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { forgetWorkflow } from "../rig/forget-workflow.ts";
import { Held } from "../rig/held.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** Steps between stages that no other suite takes: `test/replay/stored-histories.slow.test.ts` counts them all. */
describeWithTemporal("the stage of a sale", () => {
  let rig: Rig;
  const takes = new Map<string, Held>();
  beforeAll(async () => {
    rig = await startRig({
      // As a movement that waits behind others: its activity is not answered before its release.
      withLedger: (real) => ({
        ...real,
        stock: {
          ...real.stock,
          take: (request) => {
            const held = takes.get(request.referenceId.split("/")[0] ?? "");
            return held ? held.pass(() => real.stock.take(request)) : real.stock.take(request);
          },
        },
      }),
    });
  });
  afterAll(async () => {
    for (const { release } of takes.values()) release();
    await rig?.close();
  });
  const { start, handleOf } = salesOf(() => rig);
  function hold(invoice: string): Held {
    const held = new Held();
    takes.set(invoice, held);
    return held;
  }

  test("goes from adjusting-stock to completed where the authority is quicker than the stock", async () => {
    const stock = hold("QUICK-1");
    rig.simulator.setAuthority("QUICK-1", [{ do: "down" }]);
    const handle = await start("QUICK-1");
    await rig.stateWhen("QUICK-1", ({ stage }) => stage === "adjusting-stock");
    rig.simulator.setAuthority("QUICK-1", [{ do: "accept" }]);
    await rig.stateWhen("QUICK-1", ({ stage }) => stage === "completed");
    stock.release();
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
  });

  test("goes back to adjusting-stock where a rejected sale is resubmitted before its movement is answered", async () => {
    const stock = hold("BOTH-1");
    rig.simulator.setAuthority("BOTH-1", [{ do: "reject", reason: "not yet", afterMs: 100 }, { do: "down" }]);
    const handle = await start("BOTH-1");
    await rig.simulator.until(() => rig.simulator.documents("BOTH-1")[0]?.submissions === 2);
    await rig.stateWhen("BOTH-1", ({ stage }) => stage === "adjusting-stock");
    rig.simulator.setAuthority("BOTH-1", [{ do: "accept" }]);
    stock.release();
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
  });

  test("is cancelled while its items wait to be registered", async () => {
    const handle = await start("LACKING-1", { lines: [{ itemId: "item_incomplete", quantity: 1, unitPrice: 75 }] });
    await rig.stateWhen("LACKING-1", ({ stage, attentions }) => stage === "registering" && attentions.length > 0);
    await rig.starter.cancel({ invoice: "LACKING-1" }, { reason: "the customer left" });
    expect(await handle.result()).toMatchObject({ stage: "cancelled", sale: null });
  });

  test("is credited at once where a workflow that Temporal has deleted had credited the sale", async () => {
    const open = { traderInvoiceNumber: "FORGOTTEN-1", lines: [TEA], refundWindow: "1 hour" };
    await rig.starter.startSaleAndWait(open, { waitSeconds: 20 });
    await rig.starter.refund({ invoice: "FORGOTTEN-1" }, { reason: "06", traderInvoiceNumber: "CN-FORGOTTEN-1" });
    expect(await handleOf("FORGOTTEN-1").result()).toMatchObject({ stage: "credited" });
    await forgetWorkflow(rig, handleOf("FORGOTTEN-1").workflowId);
    const again = await rig.starter.startSaleAndWait(open, { waitSeconds: 20 });
    expect(again).toMatchObject({ result: "started", outcome: { stage: "credited" } });
    await handleOf("FORGOTTEN-1").result();
  });
});
