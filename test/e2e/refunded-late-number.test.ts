import { afterAll, beforeAll, expect, test } from "vitest";

import { creditNoteWorkflowId } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a closed sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);
  const { fiscalflow } = viewsOf(() => rig);

  test("is refused a number that another sale's credit note has, whoever waits for it, and is credited under another one", async () => {
    const number = "CN-SHARED";
    const [first, invoice] = ["LATE-5", "LATE-6"];
    for (const one of [first, invoice]) await start(one);
    await result(first);
    const { sale } = await result(invoice);
    await rig.starter.refund({ invoice: first }, { reason: "06", traderInvoiceNumber: number }, { waitSeconds: 20 });
    await expect(rig.starter.refund({ invoice }, { reason: "06", traderInvoiceNumber: number })).rejects.toMatchObject({
      code: "Conflict",
      fields: ["traderInvoiceNumber"],
      message: expect.stringContaining(`${number} belongs to the credit note of another sale: ${first} `),
    });
    const refused = await fiscalflow("sale", "refund", invoice, "--reason", "06", "--number", number);
    expect(refused).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("Use another number") });

    const noteId = creditNoteWorkflowId({ ...BUSINESS, saleId: sale?.id ?? "" });
    const saysRefundAgain = async (): Promise<void> => {
      const page = (await fiscalflow("sale", "show", invoice)).stdout;
      expect(page).toContain("nothing was sent: refund the sale again under another number");
      expect(page).not.toContain("sale restart");
      expect(await rig.starter.getSale({ invoice })).toMatchObject({ stage: "completed" });
      const { stderr } = await fiscalflow("sale", "retry", invoice);
      expect(stderr).toContain("It is completed. Allowed: a refund.");
      expect(stderr).not.toContain("--credit-note");
    };
    await saysRefundAgain();
    await rig.starter.restart({ workflowId: noteId }, { note: "try again" });
    await expect(rig.client.workflow.getHandle(noteId).result()).rejects.toMatchObject({ cause: { type: "Conflict" } });
    // The list of its runs follows them by a moment.
    await expect
      .poll(async () => (await fiscalflow("sale", "show", invoice)).stdout)
      .toContain("refund the sale again under another number");
    await saysRefundAgain();
    expect(
      await rig.starter.refund({ invoice }, { reason: "06", traderInvoiceNumber: "CN-LATE-6" }, { waitSeconds: 20 }),
    ).toMatchObject({
      stage: "credited",
    });
  });
});
