import type { ChainReport, Ledger, RowFinding, VerifyRequest } from "../../ledger/index.ts";
import { findingText } from "./finding-text.ts";

/** What was found of a business's events, and of the rows that they tell of. */
export interface VerifiedChain extends Omit<ChainReport, "findings"> {
  documents: number;
  purchases: number;
  findings: (ChainReport["findings"][number] | RowFinding)[];
}

/** Every chain that is asked for, one after the other. @throws LedgerUnavailableError */
export async function* verifiedChains(
  ledger: Pick<Ledger, "events" | "records" | "purchases">,
  request: VerifyRequest = {},
): AsyncGenerator<VerifiedChain> {
  for await (const chain of ledger.events.verify(request)) {
    const rows = await ledger.records.verify(chain);
    const purchases = await ledger.purchases.verify(chain);
    yield {
      ...chain,
      documents: rows.documents,
      purchases: purchases.purchases,
      findings: [...chain.findings, ...rows.findings, ...purchases.findings],
      moreFindings: chain.moreFindings + rows.moreFindings + purchases.moreFindings,
    };
  }
}

export function chainText(chain: VerifiedChain): string {
  const { connection, businessId, events, documents, purchases, head, findings, moreFindings } = chain;
  const whole = findings.length === 0 ? "as written" : `${findings.length + moreFindings} findings`;
  const end = head ? `; head ${head.count} ${head.hash}` : "";
  const lines = findings.map((finding) => `  ${findingText(finding)}`);
  if (moreFindings > 0) lines.push(`  and ${moreFindings} more`);
  return [
    `${connection}/${businessId}: ${whole}: ${events} events, ${documents} documents, ${purchases} purchases${end}`,
    ...lines,
  ].join("\n");
}
