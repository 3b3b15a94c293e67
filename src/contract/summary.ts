import { DEFAULT_CONNECTION, type WorkflowType } from "./names.ts";
import { jsonBytes } from "./payload-bounds.ts";
import { plainLine } from "./plain-text.ts";

/**
 * Bytes of a summary, as JSON. Temporal takes 400 with the encoding's name (`limit.userMetadataSummarySize`); a longer
 * one would fail the workflow task for ever.
 */
const MOST_BYTES = 200;

/** A text as a summary that Temporal's UI shows beside an event: one line, cut where it is too long. */
export function boundedSummary(text: string): string {
  const line = plainLine(text).replace(/\s+/g, " ");
  if (jsonBytes(line) <= MOST_BYTES) return line;
  // The quotation marks of each character's JSON are left for those of the whole, and for the ellipsis.
  let left = MOST_BYTES - jsonBytes("…");
  const end = Array.from(line).findIndex((character) => (left -= jsonBytes(character) - 2) < 0);
  return `${Array.from(line).slice(0, end).join("")}…`;
}

/** What a workflow of each type is called, and what it does. */
const ABOUT: Readonly<Record<WorkflowType, readonly [noun: string, does: string]>> = {
  sale: [
    "Sale",
    "Carries one sale from its start to its signed receipt and, where it is refunded, to its credit note.",
  ],
  registerItems: ["Registration of items", "Registers the items of a catalogue with the tax authority."],
  syncPurchases: ["Synchronisation of purchases", "Copies supplier invoices into the ledger."],
  syncBillPayments: ["Synchronisation of bill payments", "Copies bill payments into the ledger."],
  processSyncBatch: ["Sync batch", "Has one sync batch of the accounting service processed, at most once."],
  reconcile: ["Reconciliation", "Compares the ledger with the services."],
  scheduled: ["Scheduled start", "Starts another workflow, as a Schedule asks for it."],
  firstOutcome: ["Wait for the outcome", "Waits, for one caller through Nexus, until a sale has an outcome."],
  findSale: ["Question to the ledger", "Asks the ledger for a sale whose history Temporal has deleted."],
  readEvents: ["Events", "Reads a page of the ledger's events."],
};

/** Whose workflow it is. */
export interface Owner {
  connection?: string | undefined;
  businessId?: string | undefined;
}

/**
 * What Temporal's UI says of a workflow from its start, to be given wherever one is started.
 * @param subject which one of its kind, where there are several: `INV-1001`
 */
export function aboutWorkflow(
  type: WorkflowType,
  { connection = DEFAULT_CONNECTION, businessId }: Owner,
  subject = "",
): { staticSummary: string; staticDetails: string } {
  const [noun, does] = ABOUT[type];
  const of = businessId === undefined ? "" : ` of ${businessId}`;
  return {
    staticSummary: boundedSummary(`${noun}${subject && ` ${subject}`}${of} (${connection})`),
    staticDetails: `${does} Current Details say what it waits for and, if it needs an operator, what to do. More: \`docs/runbook.md\` of fiscalflow.`,
  };
}
