import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { movementsOf, sell } = salesOf(() => rig);

  test("that is accepted at once ends completed, with its receipt, in two calls", async () => {
    await sell("WARM-UP");
    const outcome = await sell("ACCEPTED-1");
    expect(outcome).toMatchObject({
      stage: "completed",
      sale: { status: "completed", traderInvoiceNumber: "ACCEPTED-1", totals: { total: 700 } },
      stockMovements: [{ state: "applied", action: "DEDUCT", itemId: "item_tea", quantity: 2, unitPrice: 350 }],
    });
    expect(outcome.receipt).toMatchObject({ receiptLabel: "NS", cuInvoiceNo: expect.any(String) });
    expect(outcome.attention).toBeUndefined();
    expect(rig.callsOf("ACCEPTED-1")).toEqual(["createSale", "adjustStock"]);
    expect(rig.simulator.documents("ACCEPTED-1")).toHaveLength(1);
    expect(await rig.starter.getSale({ invoice: "ACCEPTED-1" })).toMatchObject({ waitingFor: "nothing" });
  });

  test("in flight is finished by its callback, in three calls", async () => {
    rig.simulator.setAuthority("CALLBACK-1", [{ do: "accept", afterMs: 300 }]);
    const outcome = await sell("CALLBACK-1");
    expect(outcome).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
    expect(rig.callsOf("CALLBACK-1").toSorted()).toEqual(["adjustStock", "createSale", "readSale"]);
  });

  test("in flight without a callback is finished by polling", async () => {
    rig.simulator.setAuthority("POLLED-1", [{ do: "down", status: "retrying" }]);
    const selling = sell("POLLED-1", { callback: "off" });
    await rig.simulator.until(() => rig.callsOf("POLLED-1").filter((one) => one === "readSale").length === 2);
    rig.simulator.setAuthority("POLLED-1", [{ do: "accept" }]);
    const outcome = await selling;
    expect(outcome).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
    expect(rig.simulator.documents("POLLED-1")[0]?.callback).toBeNull();
  });

  test("of an item that is not registered registers it on the way, with one more call", async () => {
    const outcome = await sell("UNREGISTERED-1", { lines: [{ sku: "SOAP-1", quantity: 3, unitPrice: 120 }] });
    expect(outcome).toMatchObject({ stage: "completed", stockMovements: [{ itemId: "item_new", state: "applied" }] });
    expect(rig.simulator.calls({ operation: "registerItem", itemId: "item_new" })).toHaveLength(1);
  });

  test("that is rejected is resubmitted automatically, and never as a second document", async () => {
    rig.simulator.setAuthority("REJECTED-1", [{ do: "reject", reason: "not now" }, { do: "accept" }]);
    const outcome = await sell("REJECTED-1");
    expect(outcome).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(rig.simulator.documents("REJECTED-1")).toMatchObject([{ status: "completed", submissions: 2 }]);
    expect(movementsOf("REJECTED-1")).toHaveLength(1);
  });

  test("moves its stock on completion, or not at all, where that is asked for", async () => {
    rig.simulator.setAuthority("LATER-1", [{ do: "down" }]);
    await rig.starter.startSale({
      traderInvoiceNumber: "LATER-1",
      lines: [TEA],
      stock: "on-completion",
      refundWindow: "0",
    });
    await rig.stateWhen("LATER-1", ({ stage }) => stage === "awaiting-authority");
    expect(movementsOf("LATER-1")).toEqual([]);
    rig.simulator.setAuthority("LATER-1", [{ do: "accept" }]);
    await rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "LATER-1" })).result();
    expect(movementsOf("LATER-1")).toHaveLength(1);
    expect(await sell("OFF-1", { stock: "off" })).toMatchObject({ stockMovements: [] });
    expect(movementsOf("OFF-1")).toEqual([]);
  });

  test("has its stage and its numbers as search attributes, and a summary", async () => {
    await sell("SEEN-1");
    const handle = rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "SEEN-1" }));
    const description = await handle.describe();
    expect(description.searchAttributes).toMatchObject({
      FiscalBusiness: ["biz_1"],
      FiscalInvoice: ["SEEN-1"],
      FiscalStage: ["completed"],
      FiscalSaleId: [rig.simulator.documents("SEEN-1")[0]?.id],
    });
    expect(await description.staticSummary()).toBe("Sale SEEN-1 of biz_1 (default)");
  });
});
