import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { reconcileOf } from "../rig/reconcile.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a reconciliation", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);
  const reconcile = reconcileOf(() => rig);

  test("counts a document that was given up apart from one that is rejected", async () => {
    const before = await reconcile();
    for (const invoice of ["REC-REJECTED", "REC-GIVEN-UP"]) {
      rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "no" }]);
      await start(invoice);
      await rig.stateWhen(invoice, ({ attentions }) => attentions[0]?.code === "rejected");
    }
    await rig.starter.cancel({ invoice: "REC-GIVEN-UP" }, { reason: "the customer left" });
    await result("REC-GIVEN-UP");
    const { documents, final, differing, unreadable, givenUp } = await reconcile();
    expect(before.givenUp).toBeUndefined();
    expect(givenUp).toBe(1);
    expect(documents - final - differing - unreadable).toBe(2);
    await rig.starter.cancel({ invoice: "REC-REJECTED" }, { reason: "the customer left" });
    await result("REC-REJECTED");
  });
});
