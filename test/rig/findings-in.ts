import type { Ledger } from "../../src/ledger/index.ts";

/** What does not verify, of each chain of events and of each row that they are about. */
export async function findingsIn(ledger: Ledger): Promise<unknown[]> {
  const findings: unknown[] = [];
  for await (const chain of ledger.events.verify())
    findings.push(...chain.findings, ...(await ledger.documents.verify(chain)).findings);
  return findings;
}
