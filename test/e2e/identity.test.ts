import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkflowFailedError } from "@temporalio/client";

import { SaleConflictError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { saleOfTea, salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

describeWithTemporal("one document per number", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { startDirectly } = salesOf(() => rig);

  test("the same sale started again after its end gives the finished one, whatever its options are", async () => {
    const first = await rig.starter.startSaleAndWait(saleOfTea("AGAIN-1"), { waitSeconds: 20 });
    await rig.client.workflow.getHandle(first.workflowId).result();
    const again = await rig.starter.startSaleAndWait(saleOfTea("AGAIN-1", { stock: "off", expectedTotal: 1 }), {
      waitSeconds: 20,
    });
    expect(again).toMatchObject({
      result: "known",
      outcome: { stage: "completed", sale: { id: first.outcome?.sale?.id } },
    });
  });

  test("a sale started under an id that is not its own is refused, and nothing is sent", async () => {
    const withoutBusiness = await startDirectly("sale/default/-/OWN-ID-1", saleOfTea("OWN-ID-1"));
    await expect(withoutBusiness.result()).rejects.toMatchObject({
      cause: {
        message: expect.stringContaining(
          'workflow id: expected "sale/default/biz_1/OWN-ID-1", found "sale/default/-/OWN-ID-1". Name the business "biz_1"',
        ),
      },
    });
    const ofOther = await startDirectly("sale/default/biz_1/OWN-ID-2", saleOfTea("OWN-ID-1"));
    await expect(ofOther.result()).rejects.toThrow(WorkflowFailedError);
    expect(rig.simulator.documents("OWN-ID-1")).toEqual([]);
    expect(await rig.ledger.documents.findSale(BUSINESS, "OWN-ID-1")).toBeUndefined();
    const own = await rig.starter.startSaleAndWait(saleOfTea("OWN-ID-1"), { waitSeconds: 20 });
    expect(own).toMatchObject({ result: "started", outcome: { stage: "completed" } });
    expect(rig.simulator.documents("OWN-ID-1")).toHaveLength(1);
  });

  test("the same number with other content is a conflict that names what differs", async () => {
    await rig.starter.startSaleAndWait(saleOfTea("CONFLICT-1"), { waitSeconds: 20 });
    const other = saleOfTea("CONFLICT-1", { customer: { name: "Otieno" }, lines: [{ ...TEA, quantity: 3 }] });
    const refused = rig.starter.startSaleAndWait(other, { waitSeconds: 20 });
    await expect(refused).rejects.toThrow(SaleConflictError);
    await expect(refused).rejects.toThrow(
      /What differs: customer; lines\[0\]\.quantity: 3, before \d+\. Nothing was started\./,
    );
    expect(rig.simulator.documents("CONFLICT-1")).toHaveLength(1);
  });

  test("a start through Temporal with good input works as through the starter", async () => {
    const handle = await startDirectly(rig.starter.workflowId({ invoice: "DIRECT-1" }), saleOfTea("DIRECT-1"));
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    const waited = await rig.starter.startSaleAndWait(saleOfTea("DIRECT-1"), { waitSeconds: 20 });
    expect(waited).toMatchObject({ result: "known", outcome: { stage: "completed" } });
  });

  test("a caller whose wait ends first receives the stage reached, and can wait again", async () => {
    rig.simulator.setAuthority("IMPATIENT-1", [{ do: "down" }]);
    await rig.starter.startSale(saleOfTea("IMPATIENT-1"));
    await rig.stateWhen("IMPATIENT-1", ({ stage }) => stage === "awaiting-authority");
    const { outcome } = await rig.starter.startSaleAndWait(saleOfTea("IMPATIENT-1"), { waitSeconds: 1 });
    expect(outcome).toMatchObject({ stage: "awaiting-authority", receipt: null });
    const waiting = rig.starter.outcome({ invoice: "IMPATIENT-1" }, { waitSeconds: 20 });
    rig.simulator.setAuthority("IMPATIENT-1", [{ do: "accept" }]);
    expect(await waiting).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
  });
});
