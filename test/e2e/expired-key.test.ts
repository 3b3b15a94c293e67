import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { resetRun } from "../rig/reset-run.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale that outlives its idempotency key", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 0, callTimeoutMs: 1_000, idempotencyKeyLifeMs: 3_000 } });
  });
  afterAll(() => rig?.close());

  const { start } = salesOf(() => rig);

  test("with an unknown creation becomes document-unknown once the key has expired, and never has a second document", async () => {
    rig.simulator.inject({
      operation: "createSale",
      when: "after",
      kind: "drop",
      times: 1,
      match: { invoice: "OLD-1" },
    });
    const handle = await start("OLD-1");
    await rig.simulator.until(() => rig.simulator.documents("OLD-1").length === 1);
    const removeFault = rig.simulator.inject({ operation: "createSale", when: "before", kind: "status", status: 503 });
    rig.simulator.forgetIdempotencyKeys();
    await rig.stateWhen("OLD-1", ({ attentions }) => attentions[0]?.code === "document-unknown");
    removeFault();
    const [document] = rig.simulator.documents("OLD-1");
    await rig.starter.resolveDocument({ invoice: "OLD-1" }, { saleId: "sal_typo", note: "mistyped" });
    const state = await rig.stateWhen(
      "OLD-1",
      ({ attentions }) => attentions[0]?.message.includes("sal_typo") === true,
    );
    expect(state.attentions[0]?.code).toBe("document-unknown");
    // A run that is reset asks again: what was mistyped is nothing that an operator has decided.
    await resetRun(rig.client, rig.namespace, handle.workflowId);
    await rig.stateWhen("OLD-1", ({ attentions }) => attentions[0]?.code === "document-unknown");
    await rig.starter.resolveDocument({ invoice: "OLD-1" }, { saleId: document?.id ?? "", note: "found" });
    expect(await handle.result()).toMatchObject({ stage: "completed", sale: { id: document?.id } });
    expect(rig.simulator.documents("OLD-1")).toHaveLength(1);
  });
});
