import { onTestFinished } from "vitest";

import { type Ledger, openLedger } from "../../src/ledger/index.ts";
import { createTestLedger, type TestLedger } from "../../src/ledger/test-support/create-test-ledger.ts";

let shared: Promise<TestLedger> | undefined;

/**
 * The claims with nothing in them: one database for all tests of a process, emptied for each, since making one takes
 * longer.
 */
export async function emptyClaims(): Promise<Ledger> {
  shared ??= createTestLedger();
  const { url, outside } = await shared;
  await outside.query(
    "truncate movements, document_claims, document_claim_events, purchases, purchase_syncs, stock_branch_holds",
  );
  // A test may close it in order to have it away.
  const own = openLedger({ url, home: "/nowhere" });
  onTestFinished(() => own.close());
  return own;
}
