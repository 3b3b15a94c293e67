import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { saleOfTea } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("one sale and many callers", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  test("the same sale started many times at once is one sale, and every caller gets its receipt", async () => {
    const starts = Array.from({ length: 30 }, () =>
      rig.starter.startSaleAndWait(saleOfTea("MANY-1"), { waitSeconds: 20 }),
    );
    const results = await Promise.all(starts);
    expect(results.filter(({ result }) => result === "started")).toHaveLength(1);
    expect(new Set(results.map(({ outcome }) => outcome?.receipt?.cuInvoiceNo)).size).toBe(1);
    expect(rig.simulator.documents("MANY-1")).toHaveLength(1);
  });

  test("more callers can wait for one sale than Temporal admits updates", async () => {
    rig.simulator.setAuthority("CROWD-1", [{ do: "down" }]);
    await rig.starter.startSale(saleOfTea("CROWD-1"));
    await rig.stateWhen("CROWD-1", ({ stage }) => stage === "awaiting-authority");
    const waiting = Array.from({ length: 40 }, () =>
      rig.starter.startSaleAndWait(saleOfTea("CROWD-1"), { waitSeconds: 20 }),
    );
    rig.simulator.setAuthority("CROWD-1", [{ do: "accept" }]);
    const outcomes = await Promise.all(waiting);
    expect(outcomes.every(({ outcome }) => outcome?.stage === "completed")).toBe(true);
  });
});
