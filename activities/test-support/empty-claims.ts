import { onTestFinished } from "vitest";

import { type Ledger, openLedger } from "../../src/ledger/index.ts";
import { createTestLedger, type TestLedger } from "../../src/ledger/test-support/create-test-ledger.ts";

let shared: Promise<TestLedger> | undefined;

/**
 * A ledger with nothing in it: one database for all tests of a process, emptied for each, since making one takes
 * longer.
 */
export async function emptyClaims(): Promise<Ledger> {
  shared ??= createTestLedger();
  const { url, outside } = await shared;
  // As the owner: no trigger is in the way.
  await outside.query(`
    set session_replication_role = replica;
    truncate movements, documents, events, event_heads, purchases, syncs,
      stock_branch_holds;
    set session_replication_role = origin`);
  // A test may close it in order to have it away.
  const own = openLedger({ url, home: "/nowhere" });
  onTestFinished(() => own.close());
  return own;
}
