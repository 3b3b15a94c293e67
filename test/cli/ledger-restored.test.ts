import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { callCli } from "../../src/cli/test-support/call-cli.ts";
import { type Ledger, openLedger } from "../../src/ledger/index.ts";
import { firstTry } from "../../src/ledger/test-support/movements.ts";
import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { writeLedgerNote } from "../../src/worker/ledger-note.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { startOwnServer } from "../rig/own-server.ts";

describeWithTemporal("fiscalflow ledger restored", () => {
  let temporal: DevServer;
  let connection: Connection;
  let ledger: Ledger;
  let env: Record<string, string>;
  beforeAll(async () => {
    temporal = await startOwnServer();
    connection = await Connection.connect({ address: temporal.address });
    const url = await freshDatabase(inject("ledgerServerUrl"));
    ledger = openLedger({ url, home: "/nowhere", operationTimeoutMs: 15_000 });
    env = { TEMPORAL_ADDRESS: temporal.address, LEDGER_URL: url };
  });
  afterAll(async () => {
    await ledger.close();
    await connection.close();
    await temporal.stop();
  });

  /** What it says of a database that has fewer events than the workers have seen. */
  async function saidOf(flag: "--at" | "--lossless"): Promise<{ lostFrom: unknown; lostUntil: unknown }> {
    await ledger.stock.take(firstTry());
    const place = await ledger.place();
    await writeLedgerNote(new Client({ connection }), { ...place, events: place.events + 1 });
    const flags = flag === "--at" ? [flag, new Date().toISOString()] : [flag];
    const { stdout } = await callCli(["ledger", "restored", "--json", ...flags], { env });
    const { lostFrom, lostUntil } = JSON.parse(stdout) as { lostFrom: unknown; lostUntil: unknown };
    return { lostFrom, lostUntil };
  }

  test("tells of no loss after --lossless, and of the one before as it was", async () => {
    expect(await saidOf("--lossless")).toEqual({ lostFrom: null, lostUntil: null });
    const lost = await saidOf("--at");
    expect(lost).toEqual({ lostFrom: expect.any(String), lostUntil: expect.any(String) });
    expect(await saidOf("--lossless")).toEqual(lost);
  });
});
