import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

import { DEFAULT_CONNECTION, type WorkflowType } from "./names.ts";
import { jsonBytes, plainLine } from "./plain-text.ts";

/** The digest of the text's UTF-8 bytes as 64 lower-case hex digits. Temporal's sandbox has no `crypto`. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)));
}

const ENDS_LIKE_A_BOUND = /~[0-9a-f]{64}$/;

/**
 * The name itself if it fits, else a readable prefix that ends in `~` and the SHA-256 of the whole name, so that two
 * long names that differ only at their end stay two names. A short name that is written like a bounded one is bounded
 * too: it would else be taken for the long name whose digest it bears.
 */
export function boundedName(name: string, maxLength: number): string {
  if (name.length <= maxLength && !ENDS_LIKE_A_BOUND.test(name)) return name;
  const digest = sha256Hex(name);
  // A cut through a percent escape would leave half of it at the end.
  const prefix = name.slice(0, maxLength - digest.length - 1).replace(/%[0-9A-F]?$/, "");
  return `${prefix}~${digest}`;
}

const LONE_SURROGATE = /^[\uD800-\uDFFF]$/u;

/**
 * A part of a name, escaped as a URI component. Half of a surrogate pair has no such escape (`encodeURIComponent`
 * throws), and an id that came in somebody's JSON may hold one: it is written `%uD800`, which no escape of other text
 * is.
 */
export function escapedPart(text: string): string {
  return text.replace(/[\uD800-\uDFFF]|[^\uD800-\uDFFF]+/gu, (run) =>
    LONE_SURROGATE.test(run) ? `%u${run.charCodeAt(0).toString(16).toUpperCase()}` : encodeURIComponent(run),
  );
}

/**
 * Workflow ids. Each part is escaped as a URI component; an id longer than 200 characters keeps a
 * readable prefix and ends in `~` and a SHA-256, since Temporal's PostgreSQL stores 255.
 */
export const MAX_WORKFLOW_ID_LENGTH = 200;

/** What stands for the business in an id when none is known (a key bound to one business that is not named). */
export const NO_BUSINESS = "-";

interface OfBusiness {
  connection: string;
  businessId?: string | undefined;
}

export interface SaleIdentity extends OfBusiness {
  traderInvoiceNumber: string;
}

const ofBusiness = (kind: string, { connection, businessId = NO_BUSINESS }: OfBusiness, ...more: string[]): string =>
  workflowId(kind, connection, businessId, ...more);

export const saleWorkflowId = (sale: SaleIdentity): string => ofBusiness("sale", sale, sale.traderInvoiceNumber);

/** Those who ask at the same time share one answer. */
export const findSaleWorkflowId = (sale: SaleIdentity): string =>
  ofBusiness("find-sale", sale, sale.traderInvoiceNumber);

/** `<kind>/<connection>/<business>`: one at a time. */
export const registerItemsWorkflowId = (of: OfBusiness): string => ofBusiness("register-items", of);
export const syncPurchasesWorkflowId = (of: OfBusiness): string => ofBusiness("sync-purchases", of);
export const reconcileWorkflowId = (of: OfBusiness): string => ofBusiness("reconcile", of);

/** What one operation of a Nexus caller waits in. @param requestId the same for all repetitions of one call */
export function firstOutcomeWorkflowId(awaited: string, requestId: string): string {
  return boundedName(`first-outcome/${awaited}/${escapedPart(requestId)}`, MAX_WORKFLOW_ID_LENGTH);
}

/** Those who read at the same time share one answer. */
export function readEventsWorkflowId(request: OfBusiness & { after?: string | undefined; waits: boolean }): string {
  return ofBusiness("read-events", request, request.after ?? "0", request.waits ? "wait" : "now");
}

export function syncBillPaymentsWorkflowId(connection: string): string {
  return workflowId("sync-bill-payments", connection);
}

export function syncBatchWorkflowId(batch: { connection: string; syncBatchId: string }): string {
  return workflowId("sync-batch", batch.connection, batch.syncBatchId);
}

function workflowId(...parts: string[]): string {
  return boundedName(parts.map(escapedPart).join("/"), MAX_WORKFLOW_ID_LENGTH);
}

const READABLE_LENGTH = 40;
const KIND_LENGTH = 20;

/**
 * It hangs on the workflow's id and the step alone, so that a retry, a replay, a reset and a second start all carry
 * the same key, and it is valid for every invoice number (8 to 128 characters out of `A-Z a-z 0-9 . _ : -`; Fiscal
 * Compliance API, POST /v1/credit-notes). A step is a word, with what tells it from others of its kind after a space;
 * `intent` counts the decisions of an operator that ask for something new.
 */
export function idempotencyKey(workflowId: string, step: string, intent = 1): string {
  const digest = sha256Hex(JSON.stringify([workflowId, step, intent]));
  const readable = allowed(decodeURIComponent(lastPart(workflowId))).slice(0, READABLE_LENGTH);
  const kind = allowed(step.split(" ", 1)[0] ?? "").slice(0, KIND_LENGTH);
  return `${kind}:${readable}:${digest}`;
}

function allowed(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, "-");
}

/** The invoice number of a sale or the sale of a credit note; an id that was cut may end in half an escape. */
function lastPart(workflowId: string): string {
  const part = workflowId.slice(workflowId.lastIndexOf("/") + 1).split("~")[0] ?? "";
  try {
    decodeURIComponent(part);
    return part;
  } catch {
    return part.replaceAll("%", "-");
  }
}

/**
 * Bytes, as JSON. Temporal takes 400 with the encoding's name (`limit.userMetadataSummarySize`); a longer one would
 * fail the workflow task for ever.
 */
const MOST_BYTES = 200;

/** One line, cut where it is too long. */
export function boundedSummary(text: string): string {
  const line = plainLine(text).replace(/\s+/g, " ");
  if (jsonBytes(line) <= MOST_BYTES) return line;
  // The quotation marks of each character's JSON are left for those of the whole, and for the ellipsis.
  let left = MOST_BYTES - jsonBytes("…");
  const end = Array.from(line).findIndex((character) => (left -= jsonBytes(character) - 2) < 0);
  return `${Array.from(line).slice(0, end).join("")}…`;
}

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

export interface Owner {
  connection?: string | undefined;
  businessId?: string | undefined;
}

/** To be given wherever one is started. @param subject which one of its kind, where there are several: `INV-1001` */
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
