import { afterAll, beforeAll, expect, test } from "vitest";

import { defineSearchAttributeKey } from "@temporalio/common";
import { parseDialect } from "../../src/compliance/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale that needs an operator", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 1, resubmissionWindowMs: 50, callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig?.close());

  const { start, parked, result } = salesOf(() => rig);

  test("is found by its attention, and its details name the update that resolves it, with the JSON", async () => {
    rig.simulator.setAuthority("SHOWN-1", [{ do: "reject", reason: "wrong tax band" }]);
    await start("SHOWN-1");
    await parked("SHOWN-1", "rejected");
    const handle = rig.client.workflow.getHandle(rig.starter.workflowId({ invoice: "SHOWN-1" }));
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({ FiscalAttention: ["rejected"], FiscalStage: ["rejected"] });
    const metadata = await handle.query<{ currentDetails?: string }>("__temporal_workflow_metadata");
    expect(metadata.currentDetails).toMatch(/^### Needs an operator: rejected\n/);
    expect(metadata.currentDetails).toContain("wrong tax band");
    expect(metadata.currentDetails).toContain("Send the update `retry` to try again:\n\n```json\n{");
    rig.simulator.setAuthority("SHOWN-1", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "SHOWN-1" }, { note: "band corrected" });
    expect(await result("SHOWN-1")).toMatchObject({ stage: "completed" });
    const after = (await handle.describe()).typedSearchAttributes;
    expect(after.get(defineSearchAttributeKey("FiscalAttention", "KEYWORD"))).toBeUndefined();
    expect(rig.simulator.documents("SHOWN-1")).toHaveLength(1);
  });

  test("because the API calls its request malformed is sent again only on an operator's retry, under a new key", async () => {
    rig.simulator.inject({
      operation: "createSale",
      when: "before",
      kind: "status",
      status: 400,
      body: { error: { code: "invalid_request", message: "paymentTypeCode" } },
      match: { invoice: "MALFORMED-1" },
      times: 1,
    });
    await start("MALFORMED-1");
    const state = await parked("MALFORMED-1", "invalid-request");
    expect(state.attentions[0]?.message).toContain("paymentTypeCode");
    await rig.starter.retry({ invoice: "MALFORMED-1" });
    expect(await result("MALFORMED-1")).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("MALFORMED-1")).toHaveLength(1);
  });

  test("because its document vanished says so, and reads it again on a retry", async () => {
    rig.simulator.inject({
      operation: "readSale",
      when: "before",
      kind: "status",
      status: 404,
      body: { error: { code: "not_found", message: "no such sale" } },
      match: { saleId: "sal_gone" },
      times: 1,
    });
    rig.simulator.issueSale({
      id: "sal_gone",
      businessId: "biz_1",
      traderInvoiceNumber: "GONE-1",
      lines: [TEA],
      status: "completed",
    });
    await start("GONE-1", { saleId: "sal_gone" });
    await parked("GONE-1", "not-found");
    await rig.starter.retry({ invoice: "GONE-1" });
    expect(await result("GONE-1")).toMatchObject({ stage: "completed" });
  });

  test("because a rejection left no document tries again by itself first, then asks an operator", async () => {
    rig.simulator.setAuthority("NO-TRACE-1", [{ do: "reject", reason: "no such buyer", withoutDocument: true }]);
    await start("NO-TRACE-1");
    const state = await parked("NO-TRACE-1", "rejected");
    expect(state).toMatchObject({ stage: "rejected", document: null });
    expect(rig.callsOf("NO-TRACE-1").filter((call) => call === "createSale")).toHaveLength(2);
    rig.simulator.setAuthority("NO-TRACE-1", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "NO-TRACE-1" });
    expect(await result("NO-TRACE-1")).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("NO-TRACE-1")).toHaveLength(1);
  });

  test("because its document has an undocumented status shows it until somebody finds it in flight, and is still polled", async () => {
    rig.simulator.setAuthority("STRANGE-1", [{ do: "down" }]);
    await start("STRANGE-1", { callback: "off" });
    const { document } = await rig.stateWhen("STRANGE-1", ({ stage }) => stage === "awaiting-authority");
    const body = { data: { sale: { ...document, status: "on_holiday" } } };
    const removeFault = rig.simulator.inject({
      operation: "readSale",
      when: "after",
      kind: "status",
      status: 200,
      body,
    });
    const state = await parked("STRANGE-1", "unexpected-answer");
    expect(state.attentions[0]?.message).toContain("on_holiday");
    removeFault();
    await rig.starter.retry({ invoice: "STRANGE-1" });
    await rig.stateWhen("STRANGE-1", ({ stage, attentions }) => stage !== "completed" && attentions.length === 0);
    rig.simulator.setAuthority("STRANGE-1", [{ do: "accept" }]);
    expect(await result("STRANGE-1")).toMatchObject({ stage: "completed" });
  });

  test("names the updates that its stage allows whenever it refuses one", async () => {
    rig.simulator.setAuthority("REFUSING-1", [{ do: "down" }]);
    await start("REFUSING-1");
    await rig.stateWhen("REFUSING-1", ({ stage }) => stage === "awaiting-authority");
    const sale = { invoice: "REFUSING-1" };
    await expect(rig.starter.retry(sale)).rejects.toThrow(
      /Nothing here waits for a retry.*stage awaiting-authority.*allowed updates: cancel, outcome/,
    );
    await expect(rig.starter.retry(sale)).rejects.toMatchObject({ allowed: ["cancel", "outcome"] });
    await expect(rig.starter.resolveDocument(sale, { notCreated: true, note: "x" })).rejects.toThrow(
      "The document is not unknown.",
    );
    await expect(rig.starter.acknowledge(sale, { code: "mismatch", note: "x" })).rejects.toThrow(
      "Nothing with the code mismatch",
    );
    await expect(rig.starter.cancel(sale, { reason: " " })).rejects.toThrow("Expected the field reason");
    const handle = rig.client.workflow.getHandle(rig.starter.workflowId(sale));
    await expect(handle.executeUpdate("outcome", { args: [{ waitSeconds: 600 }] })).rejects.toThrow("Update failed");
    await expect(handle.executeUpdate("retry", { args: ["now"] })).rejects.toThrow("Update failed");
    rig.simulator.setAuthority("REFUSING-1", [{ do: "accept" }]);
    await result("REFUSING-1");
  });
});

describeWithTemporal("a sale whose path the API does not know", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ env: { COMPLIANCE_DIALECT: '{"createSale":{"path":"/v1/receipts"}}' } });
  });
  afterAll(() => rig?.close());
  const { start, parked, result } = salesOf(() => rig);

  test("is sent to the right one on a retry, once the dialect is corrected", async () => {
    await start("PATH-1");
    await parked("PATH-1", "not-found");
    await rig.stopWorkers();
    for (const connection of rig.config.compliance) connection.dialect = parseDialect();
    await rig.startWorkers();
    await rig.starter.retry({ invoice: "PATH-1" }, { note: "the path is corrected" });
    expect(await result("PATH-1")).toMatchObject({ stage: "completed" });
  });
});
