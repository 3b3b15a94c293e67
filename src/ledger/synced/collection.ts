import type { RawBuilder } from "kysely";

import type { Business, Writer } from "../events/chain.ts";
import type { Row, RowFindings } from "../rows/row-findings.ts";
import type { Chain } from "../rows/expected-rows.ts";
import type { Days } from "../reports/report.ts";

/**
 * The interface of the ledger for what is read page by page from a service: types alone.
 */

/**
 * All in which one collection differs from another while its pages are kept, read and verified. How a synchronisation
 * of it ends is its own.
 * @typeParam Asked what a page was asked for
 */
export interface Collection<Entry extends { id: string }, Asked> {
  table: "purchases" | "bill_payments";
  syncs: "purchase_syncs" | "bill_payment_syncs";
  /** The last column of the primary key. */
  idColumn: "purchase_id" | "bill_payment_id";
  /** The columns of the primary key before it: whose the row is. */
  ownerOf: (business: Business) => Row;
  /** The chain whose events tell of the rows. */
  chainOf: (business: Business) => Business;
  /** Whose rows a chain tells of; undefined where of none. */
  ownerOfChain: (chain: Chain) => Row | undefined;
  events: {
    seen: string;
    missing: string;
    /** A subject is this and the id. */
    noun: string;
    /** What the service answered last is called so in an event's content. */
    entry: "purchase" | "billPayment";
  };
  /** What an entry says, as columns; its hash and its whole body are added to them. */
  columnsOf: (entry: Entry) => Row;
  /** Fields that are no part of the content, since their changes have a name of their own. */
  fieldsApart: readonly string[];
  /** What is recorded of an entry that is seen for the first time. */
  firstSeen: (columns: Row, asked: Asked) => unknown;
  /** Changes beside those of the content. `isLate`: a page that was asked for later is kept already. */
  changesOf: (row: KeptColumns, columns: Row, page: Asked & { askedAtMs: number; isLate: boolean }) => Change[];
  /**
   * What a look sets on every row that it saw, a late one too; `observed_at` is of the look before, or of this one
   * where it wrote the row.
   */
  marksOf: (page: Asked & { askedAtMs: number }) => RawBuilder<unknown>[];
  /** Columns that no entry has, by the status that was recorded last. */
  columnsOfStatus?: (status: unknown) => Row;
}

/** The columns that every collection has. */
export type KeptColumns = Row & {
  event_number: string;
  content_hash: string;
  /** Canonical JSON of the whole, unknown fields among it. */
  body: string;
  first_seen_at: Date;
  changed_at: Date;
  observed_at: Date;
  missing_since: Date | null;
  workflow_id: string;
  run_id: string;
};

export interface Change {
  what: "first-seen" | "status" | "confirmation-error" | "content" | "missing" | "returned";
  before: unknown;
  after: unknown;
}

export interface PastChange extends Change {
  atMs: number;
  writer: Writer;
}

export type KeepPageRequest<Entry, Asked> = Asked & {
  /** In the order of the page. */
  entries: readonly Entry[];
  /**
   * The ids of rows of the page that are not of their form: what is kept of them stands, and they have not vanished.
   */
  leftOut?: readonly string[] | undefined;
  /**
   * When the page was asked for, by {@link Synced.now}: what was asked for earlier never replaces what was asked for
   * later.
   */
  askedAtMs: number;
  writer: Writer;
};

export interface KeptPage {
  rows: number;
  added: number;
  changed: number;
  /**
   * How many of those that were left out are in the ledger, from a time when they were of their form; absent for none.
   */
  leftOutKnown?: number;
}

export interface KeptEntry<Entry> {
  entry: Entry;
  firstSeenAtMs: number;
  changedAtMs: number;
  missingSinceMs: number | null;
  writer: Writer;
}

/** Days, and whose entries; default: everybody's. */
export interface PeriodRequest {
  days: Days;
  connection?: string | undefined;
  businessId?: string | undefined;
}

/** The entries of one owner that a period has by their own date. */
export interface PeriodOfOwner<Listed> {
  connection: string;
  /** `-` for none, and of an accounting connection. */
  businessId: string;
  /**
   * When the last synchronisation began that read the whole list: a full one, or the first of all; null before one came
   * to its end.
   */
  syncedAtMs: number | null;
  /** When the last synchronisation began that read at least what is new; never before `syncedAtMs`. */
  newestSyncedAtMs: number | null;
  /** Listed, and not as the events say that they were read. */
  altered: number;
  /** Of the owner, and in the list of no day: their date is none that exists, written `YYYY-MM-DD`. */
  undated: number;
  /** The id of one of them. */
  firstUndated: string | null;
  /** By date. To be read once, to its end, one owner after the other. */
  pages: () => AsyncIterable<Listed[]>;
}

/** What is known of every listed entry beside what the service said last. */
export interface ListedEntry {
  connection: string;
  /** Since when a full synchronisation does not find it (Unix milliseconds); null while it is listed. */
  missingSinceMs: number | null;
  /** Its row does not say what its events say: somebody has altered one of them. */
  altered: boolean;
}

/**
 * The entries of a collection, as the service last showed them, with the history of what changed. Every write may be
 * repeated. Every function throws LedgerUnavailableError when the ledger cannot answer, and may then be called again as
 * it was.
 * @typeParam Scope whose
 */
export interface Synced<Entry, Asked, Scope, Sync> {
  /** The database's clock (Unix milliseconds): the workers of a fleet have clocks of their own. */
  now(): Promise<number>;
  begin(sync: Sync): Promise<void>;
  keepPage(request: KeepPageRequest<Entry, Asked>): Promise<KeptPage>;
  /** By id, `most` at a time, those that are missing among them. */
  page(scope: Scope, request: { afterId?: string | undefined; most: number }): Promise<KeptEntry<Entry>[]>;
  /** Holds each row against the events of its chain; of another chain there are none. `businessId` is `-` for none. */
  verify(chain: { connection: string; businessId: string }): Promise<RowFindings>;
  /** Oldest first. */
  history(scope: Scope, id: string): Promise<PastChange[]>;
}
