import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("sales under way while their workers restart", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ simulator: { latencyMs: 30 } });
  });
  afterAll(() => rig?.close());
  const { start, result } = salesOf(() => rig);

  test("workers that stop in the middle of many sales and start again finish each of them once", async () => {
    const numbers = Array.from({ length: 20 }, (_, n) => `RESTART-${n}`);
    for (const [n, number] of numbers.entries())
      if (n % 4 === 1) rig.simulator.setAuthority(number, [{ do: "accept", afterMs: 300 }]);
    await Promise.all(numbers.map((number) => start(number)));
    await rig.simulator.until(
      () => rig.simulator.documents().filter((one) => one.traderInvoiceNumber.startsWith("RESTART-")).length >= 5,
    );
    await rig.stopWorkers();
    await rig.startWorkers();
    const results = await Promise.all(numbers.map(result));
    expect(results.map(({ stage }) => stage)).toEqual(numbers.map(() => "completed"));
    for (const number of numbers) {
      expect(rig.simulator.documents(number)).toHaveLength(1);
      expect(
        rig.simulator.books().movements.filter(({ referenceId }) => referenceId === `${number}/item_tea/sold`),
      ).toHaveLength(1);
    }
  });
});
