import { afterAll, beforeAll, expect, test } from "vitest";

import { ledgerOf } from "../../src/worker/ledger-of.ts";
import type { Ledger } from "../../src/ledger/index.ts";
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
