import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const REFUSED_KEY = {
  kind: "status",
  status: 401,
  body: { error: { code: "invalid_api_key", message: "no" } },
} as const;

describeWithTemporal("a sale whose state is in doubt", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 0, callTimeoutMs: 1_000, refusedKeyPauseMs: 200 } });
  });
  afterAll(() => rig?.close());

  const { start } = salesOf(() => rig);

  test("with an unknown creation is not cancelled by a later refusal, and its key's life goes on", async () => {
    const match = { invoice: "LOST-1" };
    rig.simulator.inject({ operation: "createSale", when: "after", kind: "drop", times: 1, match });
    rig.simulator.inject({ operation: "createSale", when: "before", ...REFUSED_KEY, skip: 1, times: 1 });
    const handle = await start("LOST-1");
    await rig.stateWhen("LOST-1", ({ attentions }) => attentions[0]?.code === "credentials");
    expect(rig.simulator.documents("LOST-1")).toMatchObject([{ status: "completed" }]);
    expect(await rig.starter.cancel({ invoice: "LOST-1" }, { reason: "no" })).not.toMatchObject({ stage: "cancelled" });
    await rig.starter.retry({ invoice: "LOST-1" });
    expect(await handle.result()).toMatchObject({ stage: "completed", cancelRequested: "no" });
    expect(rig.simulator.documents("LOST-1")).toHaveLength(1);
  });

  test("with an unknown creation is repeated under its key, also after its repeat was called malformed", async () => {
    const match = { invoice: "LOST-2" };
    const body = { error: { code: "invalid_request", message: "a gateway's mistake" } };
    rig.simulator.inject({ operation: "createSale", when: "after", kind: "drop", times: 1, match });
    const malformed = { when: "before", kind: "status", status: 400, body, skip: 1, times: 1, match } as const;
    rig.simulator.inject({ operation: "createSale", ...malformed });
    const handle = await start("LOST-2");
    await rig.stateWhen("LOST-2", ({ attentions }) => attentions[0]?.code === "invalid-request");
    await rig.starter.retry({ invoice: "LOST-2" });
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("LOST-2")).toHaveLength(1);
  });

  test("with a resubmission whose answer fits no rule keeps a cancellation pending", async () => {
    rig.simulator.setAuthority("RESENT-2", [{ do: "reject", reason: "no" }]);
    const handle = await start("RESENT-2");
    const { document } = await rig.stateWhen("RESENT-2", ({ attentions }) => attentions[0]?.code === "rejected");
    rig.simulator.setAuthority("RESENT-2", [{ do: "accept" }]);
    const match = { saleId: document?.id ?? "" };
    rig.simulator.inject({ operation: "retry", when: "after", kind: "status", status: 418, times: 1, match });
    await rig.starter.retry({ invoice: "RESENT-2" });
    await rig.stateWhen("RESENT-2", ({ attentions }) => attentions[0]?.code === "unexpected-answer");
    expect(await rig.starter.cancel({ invoice: "RESENT-2" }, { reason: "no" })).not.toMatchObject({
      stage: "cancelled",
    });
    await rig.starter.retry({ invoice: "RESENT-2" });
    expect(await handle.result()).toMatchObject({ stage: "completed", cancelRequested: "no" });
  });

  test("with an unknown resubmission keeps a cancellation pending: the completed document is not reported as cancelled", async () => {
    rig.simulator.setAuthority("RESENT-1", [{ do: "reject", reason: "no" }]);
    const handle = await start("RESENT-1");
    const { document } = await rig.stateWhen("RESENT-1", ({ attentions }) => attentions[0]?.code === "rejected");
    rig.simulator.setAuthority("RESENT-1", [{ do: "accept" }]);
    // Answered long after the caller's second: what reads the sale after that is refused, and no look before it.
    const match = { saleId: document?.id ?? "" };
    rig.simulator.inject({ operation: "retry", when: "after", kind: "slow", delayMs: 3_000, times: 1, match });
    await rig.starter.retry({ invoice: "RESENT-1" });
    await rig.simulator.until(() =>
      rig.simulator.calls({ operation: "retry" }).some(({ saleId }) => saleId === match.saleId),
    );
    rig.simulator.inject({ operation: "readSale", when: "before", ...REFUSED_KEY, times: 1, match });
    await rig.stateWhen("RESENT-1", ({ attentions }) => attentions[0]?.code === "credentials");
    await rig.starter.cancel({ invoice: "RESENT-1" }, { reason: "no" });
    expect((await rig.starter.getSale({ invoice: "RESENT-1" })).stage).not.toBe("cancelled");
    await rig.starter.retry({ invoice: "RESENT-1" });
    expect(await handle.result()).toMatchObject({ stage: "completed", sale: { status: "completed" } });
  });

  test("with an unknown registration of its item is not sent, and a refused read does not count as registered", async () => {
    const handle = await start("NEEDS-1", { lines: [{ itemId: "item_incomplete", quantity: 1, unitPrice: 75 }] });
    await rig.stateWhen("NEEDS-1", ({ attentions }) => attentions[0]?.code === "item-needs-data");
    // Of the list alone: a refusal of the whole key would stop the registration too.
    const mayListAgain = rig.simulator.inject({ operation: "listItems", when: "before", ...REFUSED_KEY, status: 403 });
    const { attentions } = await rig.stateWhen("NEEDS-1", (state) => state.attentions.length === 2);
    expect(attentions.map(({ code }) => code).toSorted()).toEqual(["credentials", "item-needs-data"]);
    const { historyLength } = await handle.describe();
    // Seconds pass, in which another sale is read again and again, and the wait adds nothing to the history.
    rig.simulator.setAuthority("CLOCK-1", [{ do: "down" }]);
    const clock = await start("CLOCK-1", { stock: "off" });
    await rig.simulator.until(() => rig.callsOf("CLOCK-1").filter((call) => call === "readSale").length >= 10);
    // The record of the second attention.
    expect((await handle.describe()).historyLength).toBeLessThanOrEqual(historyLength + 8);
    expect(rig.simulator.calls({ operation: "registerItem" })).toHaveLength(1);
    expect(rig.simulator.documents("NEEDS-1")).toEqual([]);
    mayListAgain();
    rig.simulator.updateItem("item_incomplete", {
      needs: { classificationMapping: false },
      registrationStatus: "REGISTERED",
    });
    await rig.starter.retry({ invoice: "NEEDS-1" }, { code: "credentials", note: "may list items again" });
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    rig.simulator.setAuthority("CLOCK-1", [{ do: "accept" }]);
    expect(await clock.result()).toMatchObject({ stage: "completed" });
  });

  test("keeps no attention of a call that its cancellation ended", async () => {
    const removeFault = rig.simulator.inject({ operation: "listItems", when: "before", kind: "status", status: 503 });
    const handle = await start("CANCELLED-1", { lines: [{ sku: "NEVER-SEEN", quantity: 1, unitPrice: 1 }] });
    await rig.simulator.until(() =>
      rig.simulator.calls({ operation: "listItems" }).some(({ status }) => status === 503),
    );
    await rig.starter.cancel({ invoice: "CANCELLED-1" }, { reason: "no" });
    const result = await handle.result();
    expect(result).toMatchObject({ stage: "cancelled", numberTaken: false });
    expect(result.attention).toBeUndefined();
    removeFault();
  });
});
