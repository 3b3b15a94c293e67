import { createHash } from "node:crypto";

import { NO_BUSINESS } from "../../contract/index.ts";
import type { RowOf } from "../tables.ts";
import { canonicalJson } from "./canonical-json.ts";

/** A business as the ledger keeps it: one chain of events each. */
export interface Business {
  connection: string;
  /** Absent where the key's reach names the business. */
  businessId?: string | undefined;
}

/** Who wrote: the workflow and its run. */
export interface Writer {
  workflowId: string;
  runId: string;
}

/** What is to be appended to a business's chain. */
export interface NewEvent {
  /** What happened, in a word or two with hyphens: `document-saved`, `purchase-changed`. */
  kind: string;
  /** What it happened to: a number, an id. */
  subject: string;
  /** As JSON; amounts as decimal texts. */
  content: unknown;
  writer: Writer;
  /** Where given, the chain takes at most one event of that key: another one is not appended, whatever it says. */
  key?: string | undefined;
}

/** Stands before the first event of a chain. */
export const NO_HASH = "0".repeat(64);

/**
 * SHA-256, as 64 hex digits, over the previous event's hash, a line feed, and the event as a canonical JSON array:
 * connection, business, number, time in Unix milliseconds, kind, subject, key or null, workflow id, run id, and the
 * SHA-256 of the salt, a line feed and the content as it is stored: a content and its salt could be erased, and their
 * digest kept. docs/ledger.md says the same, so that others can check a chain with their own means.
 */
export function hashOf(event: RowOf<"events">): string {
  const { connection, business_id, number, at, kind, subject, key, workflow_id, run_id } = event;
  const digest = sha256(`${event.salt}\n${event.content}`);
  const said = [connection, business_id, Number(number), at.getTime(), kind, subject, key, workflow_id, run_id, digest];
  return sha256(`${event.previous_hash}\n${canonicalJson(said)}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

const ACCOUNTING = "accounting/";

/**
 * The chain of an accounting connection. It has no business, and its name may also be that of a compliance connection,
 * whose chains are others; no connection's name has a slash.
 */
export function accountingChain(connection: string): Business {
  return { connection: `${ACCOUNTING}${connection}` };
}

/** Undefined for a chain that is not an accounting connection's. */
export function connectionOfChain(chain: { connection: string; business_id: string }): string | undefined {
  if (!chain.connection.startsWith(ACCOUNTING) || chain.business_id !== NO_BUSINESS) return undefined;
  return chain.connection.slice(ACCOUNTING.length);
}
