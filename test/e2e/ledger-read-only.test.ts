import type { WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { type OutsideClient, openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { batchesOf } from "../accounting/batches-of.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { asOwner, freshDatabase } from "../rig/fresh-database.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

/** As after a failover: it answers, and takes no claim. */
describeWithTemporal("while the ledger's database is read-only", () => {
  let rig: Rig;
  let outside: OutsideClient;
  let database: string;
  beforeAll(async () => {
    const url = await freshDatabase(inject("ledgerServerUrl"));
    database = new URL(url).pathname.slice(1);
    rig = await startRig({ accounting: true, receiver: false, env: { LEDGER_URL: url } });
    outside = openOutsideClient(asOwner(url));
  });
  afterAll(async () => {
    await outside?.end();
    await rig?.close();
  });

  const batch = batchesOf(() => rig);
  const { start, movementsOf } = salesOf(() => rig);

  async function setReadOnly(to: "on" | "off"): Promise<void> {
    await outside.query("set default_transaction_read_only = off");
    await outside.query(`alter database "${database}" set default_transaction_read_only = ${to}`);
    const others = "datname = current_database() and pid <> pg_backend_pid()";
    await outside.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
  }

  /** A sale opens its row before anything else. */
  const WAITS = ["awaitLedger", "prepareSale"];

  /** How often a run has looked for the ledger in its one wait, and how long its history is. */
  async function waitOf(handle: WorkflowHandle): Promise<{ looks: number; events: number }> {
    const { raw, historyLength } = await handle.describe();
    const wait = raw.pendingActivities?.find(({ activityType }) => WAITS.includes(activityType?.name ?? ""));
    return { looks: wait?.attempt ?? 0, events: historyLength };
  }

  test("sales and batches wait without a longer history, and complete once it takes writes", async () => {
    await setReadOnly("on");
    const one = batch();
    await one.start();
    const sale = await start("READ-ONLY-1");
    for (const handle of [one.handle, sale]) {
      await expect.poll(async () => (await waitOf(handle)).looks).toBeGreaterThan(1);
      const { looks, events } = await waitOf(handle);
      await expect.poll(async () => (await waitOf(handle)).looks).toBeGreaterThan(looks);
      expect((await waitOf(handle)).events).toBe(events);
    }
    expect([one.calls(), movementsOf("READ-ONLY-1")]).toEqual([0, []]);
    await setReadOnly("off");
    expect(await one.result()).toMatchObject({ saidBy: "service" });
    expect(await sale.result()).toMatchObject({ stage: "completed", stockMovements: [{ state: "applied" }] });
  });
});
