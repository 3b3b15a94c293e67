import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.close());

  test("that is accepted at once ends completed, with its receipt, in two calls", async () => {
    const input = {
      traderInvoiceNumber: "ACCEPTED-1",
      lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }],
      refundWindow: "0",
    };
    const { outcome } = await rig.starter.startSale(input, { waitSeconds: 20 });
    expect(outcome).toMatchObject({
      stage: "completed",
      sale: { status: "completed", traderInvoiceNumber: "ACCEPTED-1" },
    });
    expect(outcome?.receipt?.cuInvoiceNo).toEqual(expect.any(String));
  });
});
