import { type RawBuilder, sql } from "kysely";
import { createHash } from "node:crypto";

import { NO_BUSINESS } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import { LedgerError } from "../errors.ts";
import { storableText } from "../storable-text.ts";
import type { RowOf } from "../tables.ts";

/** A business as the ledger keeps it: one chain of events each. */
export interface Business {
  connection: string;
  /** Absent where the key's reach names the business. */
  businessId?: string | undefined;
}

/** The same as the columns of a table have it. */
export type Chain = { connection: string; business_id: string };

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

/**
 * The kind of the event that says what the contents of other ones are once something of them was erased; its own names
 * nobody.
 */
export const ERASED_KIND = "content-erased";

/**
 * What it says: of each event, by its number, the digest of the content that it has from then on, under a salt of its
 * own: once that goes too, nobody can guess what stood there.
 */
export interface ErasingContent {
  /** What went of the customers. */
  erased: string;
  contents: Readonly<Record<string, string>>;
}

/** Stands before the first event of a chain. */
export const NO_HASH = "0".repeat(64);

/**
 * SHA-256, as 64 hex digits, over the previous event's hash, a line feed, and the event as a canonical JSON array:
 * connection, business, number, time in Unix milliseconds, kind, subject, key or null, workflow id, run id, and the
 * digest of the content. docs/ledger.md says the same, so that others can check a chain with their own means.
 */
export function hashOf(event: RowOf<"events">): string {
  const { connection, business_id, number, at, kind, subject, key, workflow_id, run_id } = event;
  const digest = event.digest ?? contentDigest(event);
  const said = [connection, business_id, Number(number), at.getTime(), kind, subject, key, workflow_id, run_id, digest];
  return sha256(`${event.previous_hash}\n${canonicalJson(said)}`);
}

/**
 * SHA-256 of the salt, a line feed and the content as it is stored. Where something of the content was erased
 * (erasure/erase.ts), the salt is gone and the digest is kept.
 */
export function contentDigest({ salt, content }: Pick<RowOf<"events">, "salt" | "content">): string {
  return sha256(`${salt}\n${content}`);
}

/** As 64 hex digits. */
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
export function connectionOfChain(chain: Chain): string | undefined {
  if (!chain.connection.startsWith(ACCOUNTING) || chain.business_id !== NO_BUSINESS) return undefined;
  return chain.connection.slice(ACCOUNTING.length);
}

/**
 * Appends to a business's chain, in the transaction of whatever the events tell of: both are kept, or neither.
 * Transactions that append to one chain follow each other, since each holds the chain's head until it ends; so append
 * last.
 * @returns the numbers of the events, in their order; undefined for one whose key the chain has already
 * @throws LedgerError where a content is no JSON
 */
export async function appendEvents(
  db: Queries,
  business: Business,
  events: readonly NewEvent[],
): Promise<(number | undefined)[]> {
  if (events.length === 0) return [];
  const { rows } = await sql<{ numbers: (string | null)[] }>`select ${appended(business, events)} as numbers`.execute(
    db,
  );
  return (rows[0]?.numbers ?? []).map((number) => (number === null ? undefined : Number(number)));
}

/**
 * The call that does so, for a statement that writes more: an array of the numbers, `null` for undefined. It is the only
 * way to the events: the database's function takes the head, numbers and chains (migrate.ts).
 */
export function appended(business: Business, events: readonly NewEvent[]): RawBuilder<(string | null)[]> {
  const { connection, business_id } = businessColumns(business);
  const column = (of: (event: NewEvent) => string | null) => sql`${events.map(of)}::text[]`;
  return sql`append_events(${connection}, ${business_id}, ${sql.join([
    column(({ kind }) => storableText(kind)),
    column(({ subject }) => storableText(subject)),
    column(({ key }) => (key === undefined ? null : storableText(key))),
    column(({ writer }) => storableText(writer.workflowId)),
    column(({ writer }) => storableText(writer.runId)),
    column(({ content }) => canonicalJson(content)),
  ])})`;
}

export function businessColumns({ connection, businessId }: Business): Chain {
  return { connection, business_id: businessId ?? NO_BUSINESS };
}

export function writerColumns({ workflowId, runId }: Writer): { workflow_id: string; run_id: string } {
  return { workflow_id: storableText(workflowId), run_id: storableText(runId) };
}

/**
 * JSON with one spelling for each value: keys in the order of their UTF-16 code units, no spaces, nothing for what is
 * undefined. What is hashed must read the same wherever it is written down again.
 * @throws LedgerError for what is no JSON
 */
export function canonicalJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value, (_key, part: unknown) =>
    isPlain(part) ? sorted(part) : part,
  );
  if (text === undefined) throw new LedgerError("What is to be written down is no JSON.");
  return text;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(record).toSorted();
  // Without a prototype: "__proto__" is a name like any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const name of names) copy[name] = record[name];
  return copy;
}
