import { plainLine } from "../../contract/plain-text.ts";
import type { ChainFinding, RowFinding, VerifiedChain } from "../../ledger/index.ts";
import { counted } from "../output.ts";

export function chainText(chain: VerifiedChain): string {
  const { connection, businessId, events, head, findings, moreFindings } = chain;
  const whole = findings.length === 0 ? "unaltered" : counted(findings.length + moreFindings, "finding");
  const end = head ? `; head ${head.count} ${head.hash}` : "";
  const lines = findings.map((finding) => `  ${findingText(finding)}`);
  if (moreFindings > 0) lines.push(`  and ${moreFindings} more`);
  const looked = [counted(events, "event"), ...rowsOf(chain)].join(", ");
  return [`${connection}/${businessId}: ${whole}: ${looked}${end}`, ...lines].map(plainLine).join("\n");
}

/** Of a business, or of an accounting connection, whose chains have other rows. */
function rowsOf({
  documents,
  withoutDocument,
  movements,
  purchases,
  billPayments,
  syncBatches,
}: VerifiedChain): string[] {
  const rows = [
    [documents - withoutDocument, "document"],
    [withoutDocument, "sale or credit note without a document", "sales and credit notes without a document"],
    [movements, "stock movement"],
    [purchases, "purchase"],
    [billPayments, "bill payment"],
    [syncBatches, "sync batch", "sync batches"],
  ] as const;
  return rows.flatMap(([count, one, several]) => (count > 0 ? [counted(count, one, several)] : []));
}

function findingText(finding: ChainFinding | RowFinding): string {
  switch (finding.kind) {
    case "missing":
      return `${eventsFrom(finding)} not there`;
    case "changed":
      return `event ${finding.number} (${finding.subject}) does not say what was written: its hash is another`;
    case "unlinked":
      return `event ${finding.number} (${finding.subject}) does not follow the one before it: one of the two was written anew`;
    case "uncounted":
      return `${eventsFrom(finding)} behind the end that the head has counted`;
    case "other-end":
      return `event ${finding.number} is the last, but not the one that the head names`;
    case "no-head":
      return `the head is gone, and there are ${finding.events} events`;
    case "not-as-seen":
      return `event ${finding.number} is not the one that was seen earlier: the chain was written anew`;
    case "row-changed":
      return `${place(finding)} does not say what its event says, in ${finding.columns.join(", ")}`;
    case "row-missing":
      return `${place(finding)} is not there; its event tells of it`;
    case "row-behind":
      return `${finding.subject} names event ${finding.event}; the last that tells of it is ${finding.last ?? "none"}`;
    case "row-unproven":
      return `${finding.subject} (table ${finding.table}): its events, up to event ${finding.event}, do not say what it was`;
  }
}

function eventsFrom({ from, to }: { from: number; to: number }): string {
  return from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}

function place({ table, subject, row }: { table: string; subject: string; row: string }): string {
  return row === subject ? `${subject} (table ${table})` : `${subject}: row ${row} of table ${table}`;
}
