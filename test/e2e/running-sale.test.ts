import { afterAll, beforeAll, expect, test } from "vitest";

import { MAIN_TASK_QUEUE } from "../../src/contract/index.ts";
import { SaleConflictError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a running sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { start } = salesOf(() => rig);

  test("is not changed by a signal that is empty or malformed", async () => {
    const handle = await start("SIGNAL-1", { refundWindow: "1 hour" });
    for (const payload of [undefined, null, "x", { reason: "06" }, { reason: "99", traderInvoiceNumber: "CN-1" }]) {
      await rig.client.workflow.getHandle(handle.workflowId).signal("refundRequested", payload);
      await rig.client.workflow.getHandle(handle.workflowId).signal("callbackReceived", payload);
    }
    const state = await rig.stateWhen(
      "SIGNAL-1",
      ({ callbacksReceived, stage }) => callbacksReceived >= 5 && stage === "completed",
    );
    expect(state).not.toHaveProperty("refund");
    await handle.cancel();
    await handle.result();
  });

  test("that was started without a memo refuses other content as a conflict too", async () => {
    const input = { businessId: "biz_1", traderInvoiceNumber: "DIRECT-1", lines: [TEA], refundWindow: "1 hour" };
    const workflowId = rig.starter.workflowId({ invoice: "DIRECT-1" });
    const handle = await rig.client.workflow.start("sale", { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [input] });
    await rig.stateWhen("DIRECT-1", ({ stage }) => stage === "completed");
    const other = { ...input, lines: [{ ...TEA, quantity: 99 }] };
    const refused = rig.starter.startSale(other);
    await expect(refused).rejects.toThrow(SaleConflictError);
    await expect(refused).rejects.toThrow(`What differs: lines[0].quantity: 99, before ${TEA.quantity}. Nothing was`);
    const asked = handle.executeUpdate("outcome", { args: [{ fingerprint: "another" }] });
    await expect(asked).rejects.toMatchObject({
      cause: {
        type: "Conflict",
        message: expect.stringMatching(/Compared are the date, .* has: fiscalflow sale show DIRECT-1\./),
      },
    });
    // Of its 2,000 updates Temporal counts none that is refused before.
    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
    await expect(rig.starter.startSaleAndWait(other, { waitSeconds: 5 })).rejects.toThrow(SaleConflictError);
    await handle.cancel();
    await handle.result();
    await expect(rig.starter.startSaleAndWait(other, { waitSeconds: 5 })).rejects.toThrow(SaleConflictError);
  });

  test("answers a short wait at once, beside callers who wait longer", async () => {
    rig.simulator.setAuthority("BESIDE-1", [{ do: "down" }]);
    const handle = await start("BESIDE-1");
    await rig.stateWhen("BESIDE-1", ({ stage }) => stage === "awaiting-authority");
    const waiting = rig.starter.outcome({ invoice: "BESIDE-1" }, { waitSeconds: 20 });
    expect(await rig.starter.outcome({ invoice: "BESIDE-1" })).toMatchObject({ stage: "awaiting-authority" });
    expect(await rig.starter.outcome({ invoice: "BESIDE-1" }, { waitSeconds: 1 })).toMatchObject({ receipt: null });
    rig.simulator.setAuthority("BESIDE-1", [{ do: "accept" }]);
    expect(await waiting).toMatchObject({ stage: "completed" });
    await handle.result();
  });
});
