import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";

describeWithTemporal("the record of a signed sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { callTimeoutMs: 1_000 }, simulator: { windowMs: 8_000 } });
    await (await start("WARM-UP-1")).result();
  });
  afterAll(() => rig?.close());
  const { start } = salesOf(() => rig);

  test("is in the ledger while its movement waits for the next window, and then with its movement", async () => {
    const kept = async () => (await rig.ledger.documents.findSale(BUSINESS, "QUEUEING-1"))?.record;
    // The window of the first sale is spent, and the creation spends all of the next one.
    rig.simulator.setApplication("simulator", { limitPerWindow: 1 });
    const handle = await start("QUEUEING-1");
    const signed = async () => ((await kept())?.document ? await kept() : undefined);
    const whileQueueing = await vi.waitUntil(signed, { timeout: PATIENCE_MS, interval: 20 });
    expect(whileQueueing).toMatchObject({ document: { status: "completed" }, movementsPlanned: 1 });
    // Its activity may have begun to wait at the budget, with its claim.
    expect(whileQueueing?.movements.map(({ state }) => state)).not.toContain("applied");
    expect(rig.callsOf("QUEUEING-1")).not.toContain("adjustStock");
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(await kept()).toMatchObject({ movements: [{ state: "applied" }] });
    expect(rig.callsOf("QUEUEING-1").filter((call) => call === "adjustStock")).toHaveLength(1);
  });
});
