import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { creditNoteWorkflowId } from "../../src/contract/index.ts";
import { outagesOf, startRigInOrder } from "../rig/api-away.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { BUSINESS, viewsOf } from "../rig/views-of.ts";

describeWithTemporal("while the API is away, a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRigInOrder();
  });
  const { away, backAgain } = outagesOf(() => rig);
  afterEach(backAgain);
  afterAll(() => rig?.close());
  const { start, sold, result } = salesOf(() => rig);
  const { report, openNumbers, fiscalflow } = viewsOf(() => rig);

  test("has its credit note shown as open", async () => {
    const { sale } = await sold("REFUND-1", { refundWindow: "1 hour" });
    away();
    await rig.starter.refund(
      { invoice: "REFUND-1" },
      { reason: "06", traderInvoiceNumber: "CN-1" },
      { waitSeconds: 0 },
    );
    await expect.poll(openNumbers).toContain("CN-1");
    const { open } = await report();
    const note = { type: "credit_note", stage: "submitting", documentId: null, atRisk: "700.00" };
    expect(open.filter(({ number }) => number === "CN-1")).toMatchObject([note]);
    backAgain();
    await rig.client.workflow.getHandle(creditNoteWorkflowId({ ...BUSINESS, saleId: sale?.id ?? "" })).result();
    await result("REFUND-1");
    expect(await openNumbers()).toEqual([]);
  });

  test("has its credit note shown as open, and counted by `documents`, after the refund window too", async () => {
    await start("LATE-1");
    const { sale } = await result("LATE-1");
    const note = rig.client.workflow.getHandle(creditNoteWorkflowId({ ...BUSINESS, saleId: sale?.id ?? "" }));
    away();
    const asked = { reason: "06", traderInvoiceNumber: "CN-2" } as const;
    const refunding = rig.starter.refund({ invoice: "LATE-1" }, asked, { waitSeconds: 0 });
    await expect.poll(openNumbers).toEqual(["CN-2"]);
    expect((await report()).open).toMatchObject([
      { type: "credit_note", stage: "submitting", documentId: null, attentions: [], atRisk: "700.00" },
    ]);
    expect((await fiscalflow("documents", "day")).stdout).toContain(
      "1 sale or credit note of this period is under way",
    );
    backAgain();
    expect(await refunding).toMatchObject({ refund: asked });
    await note.result();
    expect(await openNumbers()).toEqual([]);
    expect((await rig.ledger.records.verify(BUSINESS)).findings).toEqual([]);
  });
});
