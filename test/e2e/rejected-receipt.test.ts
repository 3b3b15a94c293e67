import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the receipt of a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start } = salesOf(() => rig);

  test("is that of the document that a rejection named, even if the workers were stopped in between", async () => {
    rig.simulator.setAuthority("NAMED-1", [{ do: "reject", reason: "The authority says no" }]);
    await start("NAMED-1");
    const { document } = await rig.stateWhen("NAMED-1", ({ attentions }) => attentions[0]?.code === "rejected");
    const [filed] = rig.simulator.documents("NAMED-1");
    expect(document?.id).toBe(filed?.id);
    await rig.stopWorkers();
    await rig.startWorkers();
    rig.simulator.setAuthority("NAMED-1", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "NAMED-1" });
    const outcome = await rig.starter.outcome({ invoice: "NAMED-1" }, { waitSeconds: 20 });
    expect(outcome).toMatchObject({ stage: "completed", sale: { id: filed?.id } });
    expect(rig.simulator.documents("NAMED-1")).toHaveLength(1);
    expect(rig.callsOf("NAMED-1").filter((operation) => operation === "createSale")).toHaveLength(1);
  });
});
