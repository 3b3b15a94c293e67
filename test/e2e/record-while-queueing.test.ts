import { afterAll, beforeAll, expect, test } from "vitest";

import { ledgerOf } from "../../src/worker/ledger-of.ts";
import { type Ledger, LedgerUnavailableError } from "../../src/ledger/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("the record of a signed sale", () => {
  let rig: Rig;
  let ledger: Ledger;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  beforeAll(async () => {
    rig = await startRig({
      timings: { callTimeoutMs: 1_000 },
      // As a movement that waits behind others: its activity is not answered for longer than any call may take.
      withLedger: (real) => ({
        ...real,
        stock: { ...real.stock, take: (request) => released.then(() => real.stock.take(request)) },
      }),
    });
    ledger = ledgerOf(rig.config);
  });
  afterAll(async () => {
    release();
    await ledger?.close();
    await rig?.close();
  });
  const { start } = salesOf(() => rig);

  const kept = async (invoice: string) =>
    (await ledger.records.findSale({ connection: "default", businessId: "biz_1" }, invoice))?.record;

  test("stands in the ledger while its movement is waited for, and with its movement after it", async () => {
    const handle = await start("QUEUEING-1");
    await expect
      .poll(async () => await kept("QUEUEING-1"))
      .toMatchObject({ stage: "completed", document: { status: "completed" }, movements: [{ state: "sending" }] });
    release();
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    expect(await kept("QUEUEING-1")).toMatchObject({ movements: [{ state: "applied" }] });
  });
});

describeWithTemporal("a record that the ledger does not take with its movement", () => {
  let rig: Rig;
  let ledger: Ledger;
  let refusals = 0;
  beforeAll(async () => {
    rig = await startRig({
      withLedger: (real) => ({
        ...real,
        records: {
          ...real.records,
          saveDocument: async (...record) => {
            if (refusals > 0) {
              refusals -= 1;
              throw new LedgerUnavailableError("The ledger is away.");
            }
            return await real.records.saveDocument(...record);
          },
        },
      }),
    });
    ledger = ledgerOf(rig.config);
    await (await start("WARM-UP")).result();
  });
  afterAll(async () => {
    await ledger?.close();
    await rig?.close();
  });
  const { start } = salesOf(() => rig);

  test("is kept by itself, and the movement is not sent again", async () => {
    refusals = 1;
    const handle = await start("REFUSED-1");
    expect(await handle.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
    const { events } = await handle.fetchHistory();
    const names = events?.flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
    );
    expect(names).toEqual(["prepareSale", "createSale", "adjustStock", "saveRecord"]);
    const business = { connection: "default", businessId: "biz_1" };
    const [movement] = rig.simulator
      .books()
      .movements.filter(({ referenceId }) => referenceId?.startsWith("REFUSED-1"));
    expect((await ledger.records.findSale(business, "REFUSED-1"))?.record).toMatchObject({
      stage: "completed",
      movements: [{ state: "applied", movementId: movement?.movementId }],
    });
    expect(rig.simulator.calls({ operation: "adjustStock" })).toHaveLength(2);
  });
});
