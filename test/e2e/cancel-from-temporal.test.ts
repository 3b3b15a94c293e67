import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a cancellation", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 1, resubmissionWindowMs: 50, firstPollWithCallbackMs: 1_500 } });
  });
  afterAll(() => rig?.close());

  const { start, onHand } = salesOf(() => rig);

  test("from Temporal does the same as the update, and gives the stock back", async () => {
    const before = onHand();
    rig.simulator.setAuthority("TEMPORAL-1", [{ do: "down" }]);
    const handle = await start("TEMPORAL-1");
    await rig.stateWhen("TEMPORAL-1", ({ stockMovements }) => stockMovements[0]?.state === "applied");
    await handle.cancel();
    const { decisions } = await rig.stateWhen(
      "TEMPORAL-1",
      ({ cancelRequested }) => cancelRequested === "cancelled through Temporal",
    );
    // Temporal does not tell the workflow who it was.
    expect(decisions).toEqual([
      { update: "cancel", note: "cancelled through Temporal", atMs: expect.any(Number) as number },
    ]);
    const waiting = rig.starter.outcome({ invoice: "TEMPORAL-1" }, { waitSeconds: 20 });
    rig.simulator.setAuthority("TEMPORAL-1", [{ do: "reject", reason: "no" }]);
    expect(await waiting).toMatchObject({ stage: "cancelled" });
    expect(await handle.result()).toMatchObject({ stage: "cancelled" });
    expect(onHand()).toBe(before);
  });

  test("from Temporal after completion only closes the refund window", async () => {
    const handle = await start("TEMPORAL-2", { refundWindow: "24 hours" });
    await rig.stateWhen("TEMPORAL-2", ({ stage }) => stage === "completed");
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
  });

  test("of a completed sale is refused, and says that a refund reverses it", async () => {
    const handle = await start("COMPLETED-1", { refundWindow: "24 hours" });
    await rig.stateWhen("COMPLETED-1", ({ stage }) => stage === "completed");
    await expect(rig.starter.cancel({ invoice: "COMPLETED-1" }, { reason: "no" })).rejects.toThrow(
      /reversed by a refund.*refund/,
    );
    await handle.cancel();
    await handle.result();
  });
});
