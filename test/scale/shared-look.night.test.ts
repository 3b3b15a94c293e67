import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const SALES = 100;
const PAUSE_MS = 10_000;
/** A look serves all who would look within half a pause, of which jitter can take a tenth. */
const LEAST_BETWEEN_LOOKS_MS = (PAUSE_MS / 2) * 0.9;

describeWithTemporal("many sales that wait for one item", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { firstPollMs: PAUSE_MS, longestPollMs: PAUSE_MS } });
  });
  afterAll(() => rig?.close());

  const { start, parked } = salesOf(() => rig);
  const lines = [{ itemId: "item_incomplete", quantity: 1, unitPrice: 75 }];
  const looks = () => rig.simulator.calls({ operation: "listItems" });

  test("share one read of the catalogue, limited by time and not by their number, and all go on when it is registered", async () => {
    const invoices = Array.from({ length: SALES }, (_, i) => `WAITING-${i}`);
    const handles = await Promise.all(invoices.map((invoice) => start(invoice, { lines })));
    for (const invoice of invoices) await parked(invoice, "item-needs-data");
    // Each worker's word that data is missing serves those who come soon after.
    expect(rig.simulator.calls({ operation: "registerItem" }).length).toBeLessThan(SALES / 10);
    const before = looks().length;
    await rig.simulator.until(() => looks().length >= before + 2);
    rig.simulator.updateItem("item_incomplete", {
      needs: { classificationMapping: false },
      registrationStatus: "REGISTERED",
    });
    for (const handle of handles) expect(await handle.result()).toMatchObject({ stage: "completed" });
    const atMs = looks().map((call) => call.atMs);
    const tookMs = (atMs.at(-1) ?? 0) - (atMs[0] ?? 0);
    // One more, since a slow machine holds up one call on its way and not the next. A look for each sale would be one
    // every 100 ms.
    expect(atMs.length - 1).toBeLessThanOrEqual(tookMs / LEAST_BETWEEN_LOOKS_MS + 1);
  });
});
