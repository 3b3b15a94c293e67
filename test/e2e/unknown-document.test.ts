import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const DIALECT = { createSale: { idempotencyKey: "off" } };

describeWithTemporal("a sale whose creation has no trusted key", () => {
  let rig: Rig;
  let onceDecided: (() => Promise<unknown>) | undefined;
  beforeAll(async () => {
    rig = await startRig({
      withLedger: (ledger) => ({
        ...ledger,
        documents: {
          ...ledger.documents,
          decide: async (request) => {
            await ledger.documents.decide(request);
            await onceDecided?.();
          },
        },
      }),
      env: { COMPLIANCE_DIALECT: JSON.stringify(DIALECT) },
      simulator: { ignoreIdempotencyKeyOnSales: true },
    });
  });
  afterAll(() => rig?.close());

  async function start(traderInvoiceNumber: string) {
    const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
    const { workflowId } = await rig.starter.startSale({ traderInvoiceNumber, lines, refundWindow: "0" });
    return rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(workflowId);
  }

  test("is never sent again automatically after a lost answer; the document that an operator names is adopted", async () => {
    rig.simulator.inject({
      operation: "createSale",
      when: "after",
      kind: "drop",
      times: 1,
      match: { invoice: "LOST-1" },
    });
    const handle = await start("LOST-1");
    await rig.stateWhen("LOST-1", ({ attentions }) => attentions[0]?.code === "document-unknown");
    const [document] = rig.simulator.documents("LOST-1");
    rig.simulator.issueSale({
      id: "sal_other",
      businessId: "biz_1",
      traderInvoiceNumber: "OTHER",
      status: "completed",
      lines: [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }],
    });
    await rig.starter.resolveDocument({ invoice: "LOST-1" }, { saleId: "sal_other", note: "mistaken" });
    const state = await rig.stateWhen(
      "LOST-1",
      ({ attentions }) => attentions[0]?.message.includes("sal_other") === true,
    );
    expect(state.attentions[0]?.message).toContain("traderInvoiceNumber: expected LOST-1, found OTHER");
    await rig.starter.resolveDocument(
      { invoice: "LOST-1" },
      { saleId: document?.id ?? "", note: "seen in the dashboard", by: "njeri" },
    );
    expect(await handle.result()).toMatchObject({
      stage: "completed",
      sale: { id: document?.id },
      stockMovements: [{ state: "applied" }],
    });
    expect(rig.simulator.documents("LOST-1")).toHaveLength(1);
  });

  test("is asked about since its first run sent it, after a restart too", async () => {
    const match = { invoice: "LOST-4" };
    rig.simulator.inject({ operation: "createSale", when: "after", kind: "drop", times: 1, match });
    const handle = await start("LOST-4");
    const isAsked = () => rig.stateWhen("LOST-4", ({ attentions }) => attentions[0]?.code === "document-unknown");
    await isAsked();
    await handle.terminate("by mistake");
    await rig.starter.restart({ invoice: "LOST-4" }, { note: "carry it on" });
    const [attention] = (await isAsked()).attentions;
    const { startTime } = await rig.client.workflow.getHandle(handle.workflowId).describe();
    expect(attention?.sinceMs).toBeLessThan(startTime.getTime());
    expect(attention?.sinceMs).toBe(Date.parse(String(attention?.evidence?.["firstSentAt"])));
    const [document] = rig.simulator.documents("LOST-4");
    await rig.starter.resolveDocument({ invoice: "LOST-4" }, { saleId: document?.id ?? "", note: "seen" });
    expect(await rig.client.workflow.getHandle(handle.workflowId).result()).toMatchObject({ stage: "completed" });
  });

  /** It asks an operator, and nothing of it has come to the service. */
  async function lost(invoice: string) {
    const match = { invoice };
    rig.simulator.inject({ operation: "createSale", when: "before", kind: "status", status: 503, times: 1, match });
    const handle = await start(invoice);
    await rig.stateWhen(invoice, ({ attentions }) => attentions[0]?.code === "document-unknown");
    return handle;
  }

  test("is sent again once an operator says that it was not created", async () => {
    const handle = await lost("LOST-2");
    await rig.starter.resolveDocument({ invoice: "LOST-2" }, { notCreated: true, note: "not in the dashboard" });
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect((await rig.starter.getSale({ invoice: "LOST-2" })).decisions).toMatchObject([
      { update: "resolveDocument", answer: "not created", note: "not in the dashboard" },
    ]);
    expect(rig.simulator.documents("LOST-2")).toHaveLength(1);
  });

  test("is sent again by the next run, which knows the operator's word from the claim", async () => {
    const handle = await lost("LOST-5");
    onceDecided = () => handle.terminate("by mistake");
    const word = { notCreated: true, note: "not there", by: "njeri" } as const;
    await Promise.allSettled([rig.starter.resolveDocument({ invoice: "LOST-5" }, word), handle.result()]);
    onceDecided = undefined;
    await rig.starter.restart({ invoice: "LOST-5" }, { note: "carry it on" });
    expect(await rig.client.workflow.getHandle(handle.workflowId).result()).toMatchObject({ stage: "completed" });
    expect((await rig.starter.getSale({ invoice: "LOST-5" })).decisions).toContainEqual(
      expect.objectContaining({ update: "resolveDocument", answer: "not created", note: "not there", by: "njeri" }),
    );
    expect(rig.simulator.documents("LOST-5")).toHaveLength(1);
  });

  test("is cancelled only once an operator says that it was not created", async () => {
    const handle = await lost("LOST-3");
    await rig.starter.cancel({ invoice: "LOST-3" }, { reason: "perhaps" }).catch(() => undefined);
    expect((await rig.starter.getSale({ invoice: "LOST-3" })).stage).not.toBe("cancelled");
    await rig.starter.resolveDocument({ invoice: "LOST-3" }, { notCreated: true, note: "not in the dashboard" });
    expect(await handle.result()).toMatchObject({ stage: "cancelled", sale: null });
    expect(rig.simulator.documents("LOST-3")).toHaveLength(0);
    expect(await (await start("LOST-6")).result()).toMatchObject({ stage: "completed" });
  });
});
