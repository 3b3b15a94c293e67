import { createHash } from "node:crypto";

import { NO_BUSINESS } from "../../contract/index.ts";
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

/** An event as it stands in its chain. */
export interface ChainedEvent {
  connection: string;
  /** `-` for none. */
  businessId: string;
  /** Counts from 1 within the chain. */
  number: number;
  atMs: number;
  kind: string;
  subject: string;
  key: string | null;
  workflowId: string;
  runId: string;
  /** Canonical JSON. */
  content: string;
  /** Drawn for this event: who knows the hash alone cannot try out what the content was. */
  salt: string;
  /** Of the event before it; 64 zeros for the first. */
  previousHash: string;
  hash: string;
}

/** Stands before the first event of a chain. */
export const NO_HASH = "0".repeat(64);

/**
 * SHA-256, as 64 hex digits, over the previous event's hash, a line feed, and the event as a canonical JSON array:
 * connection, business, number, time in Unix milliseconds, kind, subject, key or null, workflow id, run id, and the
 * SHA-256 of the salt, a line feed and the content as it is stored: a content and its salt could be erased, and their
 * digest kept. docs/ledger.md says the same, so that others can check a chain with their own means.
 */
export function hashOf(event: Omit<ChainedEvent, "hash">): string {
  const { connection, businessId, number, atMs, kind, subject, key, workflowId, runId, previousHash } = event;
  const digest = sha256(`${event.salt}\n${event.content}`);
  const text = canonicalJson([connection, businessId, number, atMs, kind, subject, key, workflowId, runId, digest]);
  return sha256(`${previousHash}\n${text}`);
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
