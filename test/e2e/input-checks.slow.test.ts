import { afterAll, beforeAll, expect, test } from "vitest";

import { nairobiDate, type SaleInput } from "../../src/contract/index.ts";
import { createStarter, InvalidInputError, type Starter } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const wrong = (traderInvoiceNumber: string): SaleInput => ({
  traderInvoiceNumber,
  customer: { pin: "P0123" },
  saleDate: "2020-01-31",
  lines: [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }],
});

const RIGHT = { lines: [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }] };
const yesterday = () => nairobiDate(Date.now() - 86_400_000);

describeWithTemporal("a sale or a refund that looks wrong, where such ones are refused", () => {
  let rig: Rig;
  let starter: Starter;
  beforeAll(async () => {
    rig = await startRig({ env: { COMPLIANCE_INPUT_CHECKS: "refuse" } });
    const [connection] = rig.config.compliance;
    if (!connection) throw new Error("the rig has a connection");
    starter = createStarter({
      client: rig.client,
      businesses: { default: "biz_1" },
      inputChecks: { default: connection.inputChecks },
    });
  });
  afterAll(() => rig?.close());

  test("is not started by the starter, which names the fields", async () => {
    const started = starter.startSale(wrong("REFUSED-1"));
    await expect(started).rejects.toThrow(InvalidInputError);
    await expect(started).rejects.toThrow(
      /customer\.pin: .*\n {2}saleDate: expected a day from .*, found "2020-01-31"/,
    );
    expect(rig.callsOf("REFUSED-1")).toEqual([]);
  });

  test("ends before anything of it is sent where it was started without the check, and its number is free", async () => {
    const started = rig.starter.startSaleAndWait(wrong("REFUSED-2"), { waitSeconds: 20 });
    await expect(started).rejects.toThrow(InvalidInputError);
    await expect(started).rejects.toThrow("customer.pin");
    expect(rig.callsOf("REFUSED-2")).toEqual([]);
    const corrected = { ...RIGHT, traderInvoiceNumber: "REFUSED-2" };
    const { outcome } = await starter.startSaleAndWait(corrected, { waitSeconds: 20 });
    expect(outcome).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("REFUSED-2")).toHaveLength(1);
  });

  test.each([
    ["open", "1 hour"],
    ["closed", "0"],
  ])("a refund of a sale that is %s is not accepted, and another date is", async (state, refundWindow) => {
    const invoice = `REFUND-${state}`;
    await starter.startSaleAndWait({ ...RIGHT, traderInvoiceNumber: invoice, refundWindow }, { waitSeconds: 20 });
    if (state === "closed") await rig.client.workflow.getHandle(starter.workflowId({ invoice })).result();
    const request = { reason: "06", traderInvoiceNumber: `CN-${state}` } as const;
    for (const [returnDate, expected] of [
      ["2099-06-30", /returnDate: expected a day from /],
      [yesterday(), /returnDate: expected no day before the sale's date, /],
    ] as const)
      await expect(starter.refund({ invoice }, { ...request, returnDate })).rejects.toThrow(expected);
    await expect(starter.refund({ invoice }, { ...request, returnDate: "2099-06-30" })).rejects.toThrow(
      InvalidInputError,
    );
    expect(rig.simulator.documents(request.traderInvoiceNumber)).toEqual([]);
    const credited = await starter.refund({ invoice }, request, { waitSeconds: 20 });
    expect(credited).toMatchObject({ stage: "credited" });
    expect(credited).not.toHaveProperty("warnings");
  });

  test("a correction whose credit note has a date before its sale's does nothing", async () => {
    const invoice = "CORRECT-1";
    await starter.startSaleAndWait({ ...RIGHT, traderInvoiceNumber: invoice }, { waitSeconds: 20 });
    const replaceWith = { ...RIGHT, traderInvoiceNumber: "CORRECT-2" };
    const asked = { reason: "06", traderInvoiceNumber: "CN-CORRECT-1", returnDate: yesterday(), replaceWith } as const;
    await expect(starter.correct({ invoice }, asked)).rejects.toThrow("no day before the sale's date");
    expect(rig.callsOf("CORRECT-2")).toEqual([]);
    expect(rig.simulator.documents("CN-CORRECT-1")).toEqual([]);
  });
});

describeWithTemporal("a sale that looks wrong, and was sent before such ones were refused", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  test("is found again, and the answer says what looks wrong", async () => {
    await rig.starter.startSaleAndWait(wrong("KNOWN-1"), { waitSeconds: 20 });
    const later = createStarter({
      client: rig.client,
      businesses: { default: "biz_1" },
      inputChecks: { default: "refuse" },
    });
    expect(await later.startSaleAndWait(wrong("KNOWN-1"), { waitSeconds: 20 })).toMatchObject({
      result: "known",
      outcome: { stage: "completed" },
      warnings: [expect.stringMatching(/^customer\.pin: /), expect.stringMatching(/^saleDate: /)],
    });
  });
});
