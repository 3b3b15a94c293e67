import { afterAll, beforeAll, expect, test } from "vitest";

import { type OutsideClient, openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";
import { asOwner } from "../rig/fresh-database.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { findingsIn } from "../rig/findings-in.ts";
import { salesOf } from "../rig/sales-of.ts";
import type { Rig } from "../rig/start-rig.ts";
import { type RigOnLine, startRigOnLine } from "../rig/start-rig-on-line.ts";

/** Decision 22: what must be kept for years, by who has the answer. */
describeWithTemporal("the row of a sale", () => {
  let rig: Rig;
  let onLine: RigOnLine;
  let outside: OutsideClient;
  let onSent: ((bytes: Buffer) => void) | undefined;
  beforeAll(async () => {
    // The time of an operation is the product's.
    onLine = await startRigOnLine({ ledgerTimeoutMs: 3_000 }, (bytes) => onSent?.(bytes));
    ({ rig } = onLine);
    outside = openOutsideClient(asOwner(onLine.databaseUrl));
  });
  afterAll(async () => {
    await outside?.end();
    await onLine?.close();
  });
  const { start } = salesOf(() => rig);

  const kindsOf = async (subject: string): Promise<string[]> => {
    const { rows } = await outside.query<{ kind: string }>(
      "select kind from events where subject = $1 order by number",
      [subject],
    );
    return rows.map(({ kind }) => kind);
  };

  test("is opened once where the worker stalls as it opens it", async () => {
    const stalled = new Promise<void>((resolve) => {
      onSent = (bytes) => {
        if (!bytes.includes('insert into "documents"')) return;
        onSent = undefined;
        // The process does nothing else meanwhile, so that the attempt is ended by its time and not by its own bound.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
        resolve();
      };
    });
    const handle = await start("STALLED-1");
    await stalled;
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    expect(await kindsOf("sale STALLED-1")).toEqual([
      "document-saved",
      "document-taken",
      "document-created",
      "document-saved",
    ]);
    expect(await findingsIn(rig.ledger)).toEqual([]);
  });
});
