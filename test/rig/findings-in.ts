import type { Ledger } from "../../src/ledger/index.ts";

/** What does not verify, of each chain of events and of each row that they are about. */
export async function findingsIn(ledger: Ledger): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { findings } of ledger.verify()) found.push(...findings);
  return found;
}
