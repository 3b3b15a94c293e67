import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale whose authority is slow", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { slowAfterMs: 300, resubmissions: 1, resubmissionWindowMs: 50 } });
  });
  afterAll(() => rig?.close());
  const { start, parked, result } = salesOf(() => rig);

  test("keeps polling, and retry submits the same document again", async () => {
    rig.simulator.setAuthority("SLOW-1", [{ do: "down" }]);
    await start("SLOW-1", { callback: "off" });
    const state = await parked("SLOW-1", "authority-slow");
    expect(state.stage).toBe("awaiting-authority");
    rig.simulator.setAuthority("SLOW-1", [{ do: "down" }, { do: "accept" }]);
    await rig.starter.retry({ invoice: "SLOW-1" });
    rig.simulator.setAuthority("SLOW-1", [{ do: "accept" }]);
    expect(await result("SLOW-1")).toMatchObject({ stage: "completed" });
    expect(rig.simulator.documents("SLOW-1")).toHaveLength(1);
    expect(rig.callsOf("SLOW-1")).toContain("retry");
  });

  test("is shown again once it is slow to answer a resubmission too", async () => {
    rig.simulator.setAuthority("SLOW-2", [{ do: "down" }]);
    await start("SLOW-2", { callback: "off" });
    await parked("SLOW-2", "authority-slow");
    rig.simulator.setAuthority("SLOW-2", [{ do: "reject", reason: "no" }, { do: "down" }]);
    await rig.simulator.until(() => rig.callsOf("SLOW-2").includes("retry"));
    await parked("SLOW-2", "authority-slow");
    rig.simulator.setAuthority("SLOW-2", [{ do: "accept" }]);
    expect(await result("SLOW-2")).toMatchObject({ stage: "completed" });
  });
});
