import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a sale whose stock an operator decides", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { callTimeoutMs: 1_000 } });
  });
  afterAll(() => rig?.close());
  const { start, parked, result, movementsOf } = salesOf(() => rig);

  test("refuses a repeated answer about a movement that was sent again, and is unknown again", async () => {
    const referenceId = "REPEATED-1/item_tea/sold";
    const match = { referenceId };
    rig.simulator.inject({ operation: "adjustStock", when: "before", kind: "drop", times: 2, match });
    await start("REPEATED-1");
    const first = (await parked("REPEATED-1", "stock-unknown")).attentions[0]?.sinceMs ?? 0;
    const answer = () =>
      rig.starter.resolveStock({ invoice: "REPEATED-1" }, { ...match, applied: false, note: "not in the journal" });
    await answer();
    await rig.stateWhen("REPEATED-1", ({ attentions }) => attentions.some(({ sinceMs }) => sinceMs > first));
    await expect(answer()).rejects.toThrow(/^It was answered before, and is asked again since .*: look again/);
    const answered = () =>
      answer().then(
        () => "kept",
        () => "refused",
      );
    await expect.poll(answered).toBe("kept");
    expect(await result("REPEATED-1")).toMatchObject({ stockMovements: [{ state: "applied" }] });
    expect(movementsOf("REPEATED-1")).toHaveLength(1);
  });
});
