import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a closed sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, result, parked } = salesOf(() => rig);
  const { fiscalflow } = viewsOf(() => rig);

  const number = "CN-SHARED";
  const [first, invoice] = ["LATE-5", "LATE-6"];
  const shared = { reason: "06", traderInvoiceNumber: number } as const;

  test("is refused a number that another sale's credit note has, where somebody waits for it, and is credited under another one", async () => {
    for (const one of [first, invoice]) await start(one);
    for (const one of [first, invoice]) await result(one);
    await rig.starter.refund({ invoice: first }, shared, { waitSeconds: 20 });
    await expect(rig.starter.refund({ invoice }, shared, { waitSeconds: 20 })).rejects.toMatchObject({
      code: "Conflict",
      fields: ["traderInvoiceNumber"],
      message: expect.stringContaining(`${number} belongs to the credit note of another sale: ${first} `),
    });
    const refused = await fiscalflow("sale", "refund", invoice, "--reason", "06", "--number", number, "--wait");
    expect(refused).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("Use another number") });
    expect(await result(invoice)).toMatchObject({ stage: "completed" });
    expect((await fiscalflow("sale", "retry", invoice)).stderr).toContain("It is completed. Allowed: a refund.");
    const refund = { ...shared, traderInvoiceNumber: "CN-LATE-6" };
    expect(await rig.starter.refund({ invoice }, refund, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
  });

  test("needs an operator where nobody waits for the word that the number is taken", async () => {
    const [other, own] = ["LATE-10", { ...shared, traderInvoiceNumber: "CN-LATE-10" }];
    await start(other);
    await result(other);
    expect(await rig.starter.refund({ invoice: other }, shared)).toMatchObject({ refund: shared });
    expect((await parked(other, "unexpected-answer")).attentions).toMatchObject([
      { message: expect.stringContaining(`${number} belongs to the credit note of another sale`) },
    ]);
    await rig.starter.acknowledge({ invoice: other }, { code: "unexpected-answer", note: "a slip" });
    expect(await result(other)).toMatchObject({ stage: "completed" });
    expect(await rig.starter.refund({ invoice: other }, own, { waitSeconds: 20 })).toMatchObject({ stage: "credited" });
  });
});
