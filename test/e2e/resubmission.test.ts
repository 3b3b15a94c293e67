import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale that waits for its automatic resubmission", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 2, resubmissionWindowMs: 7_200_000 } });
  });
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);

  async function rejected(invoice: string): Promise<void> {
    rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "no connection" }, { do: "accept" }]);
    await start(invoice);
    await rig.stateWhen(invoice, ({ waitingFor }) => waitingFor.startsWith("resubmission 1"));
  }

  test("is resubmitted at once by retry, and keeps who asked", async () => {
    await rejected("FORWARD-1");
    await rig.starter.retry({ invoice: "FORWARD-1" }, { note: "the line is up again", by: "njeri" });
    expect(await result("FORWARD-1")).toMatchObject({ stage: "completed", sale: { status: "completed" } });
    const { decisions } = await rig.starter.getSale({ invoice: "FORWARD-1" });
    expect(decisions).toMatchObject([{ update: "retry", code: "rejected", by: "njeri", note: "the line is up again" }]);
    expect(rig.callsOf("FORWARD-1").filter((call) => call === "retry")).toHaveLength(1);
  });

  test("stays as it is after a retry of something else, which is refused with the allowed updates", async () => {
    await rejected("FORWARD-2");
    const other = rig.starter.retry({ invoice: "FORWARD-2" }, { code: "stock-refused" });
    await expect(other).rejects.toThrow(/stock-refused.*retry, cancel/);
    expect((await rig.starter.getSale({ invoice: "FORWARD-2" })).stage).toBe("rejected");
    await rig.starter.retry({ invoice: "FORWARD-2" }, { code: "rejected" });
    expect(await result("FORWARD-2")).toMatchObject({ stage: "completed" });
  });
});
