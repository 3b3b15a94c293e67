import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a refund", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { result } = salesOf(() => rig);

  test("that was signalled before the sale was completed is carried out once it is, window or not", async () => {
    rig.simulator.setAuthority("EARLY-1", [{ do: "down" }]);
    await rig.starter.startSale({ traderInvoiceNumber: "EARLY-1", lines: [TEA], refundWindow: "0" });
    const handle = rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "EARLY-1" }));
    await handle.signal("refundRequested", { reason: "06", traderInvoiceNumber: "CN-EARLY-1" });
    await handle.signal("refundRequested", { reason: "99", traderInvoiceNumber: "" });
    await rig.stateWhen("EARLY-1", ({ stage }) => stage === "awaiting-authority");
    rig.simulator.setAuthority("EARLY-1", [{ do: "accept" }]);
    expect(await result("EARLY-1")).toMatchObject({
      stage: "credited",
      creditNote: { traderInvoiceNumber: "CN-EARLY-1" },
    });
  });

  test("is refused while the sale is not completed, with what the stage allows", async () => {
    rig.simulator.setAuthority("TOO-EARLY-1", [{ do: "down" }]);
    await rig.starter.startSale({ traderInvoiceNumber: "TOO-EARLY-1", lines: [TEA], refundWindow: "0" });
    await rig.stateWhen("TOO-EARLY-1", ({ stage }) => stage === "awaiting-authority");
    const request = { reason: "06", traderInvoiceNumber: "CN-1" } as const;
    await expect(rig.starter.refund({ invoice: "TOO-EARLY-1" }, request)).rejects.toThrow(
      /Only a completed sale.*awaiting-authority.*cancel/,
    );
    rig.simulator.setAuthority("TOO-EARLY-1", [{ do: "accept" }]);
    await result("TOO-EARLY-1");
  });
});
