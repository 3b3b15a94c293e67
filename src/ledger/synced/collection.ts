import type { RawBuilder } from "kysely";

import type { Business, Writer } from "../events/chain.ts";
import type { Chain, Row } from "../events/verify-rows.ts";
import type { Days } from "../reports/report.ts";

/**
 * The interface of the ledger for what is read page by page from a service: types alone.
 */

/** What a page was asked for, as far as its rows learn from it. */
export interface Asked extends Business {
  status?: string | undefined;
}

/** All in which one collection differs from another. */
export interface Collection<Entry extends { id: string }> {
  table: "purchases" | "bill_payments";
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
  /** What a look sets on every row that it saw, a late one too. */
  marksOf: (page: Asked & { askedAtMs: number }) => RawBuilder<unknown>[];
  /** The status as it was seen since an instant. */
  statusSince: (since: Date) => RawBuilder<unknown>;
  /** Where the status is no field of an entry: columns by the status that was recorded last. */
  columnsOfStatus?: (status: unknown) => Row;
  /** Which rows no list of a status has had since an instant, and what is recorded of them then. */
  withoutStatus?: (since: Date) => { which: RawBuilder<unknown>; set: RawBuilder<unknown> };
  /** The column of the date by which entries are listed; a text of the service's. */
  date: "invoice_date" | "payment_date";
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

export type KeepPageRequest<Entry> = Asked & {
  /** In the order of the page. */
  entries: readonly Entry[];
  /**
   * The ids of rows of the page that are not of their form: what is kept of them stands, and they have not vanished.
   */
  leftOut?: readonly string[] | undefined;
  /**
   * When the page was asked for, by the database's clock: what was asked for earlier never replaces what was asked for
   * later.
   */
  askedAtMs: number;
  /** See {@link KeptPage.known}. */
  knownUntilMs?: number | undefined;
  writer: Writer;
};

export interface KeptPage {
  rows: number;
  added: number;
  changed: number;
  /** Each row was in the ledger as the page shows it, unchanged since `knownUntilMs`. */
  known: boolean;
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
  /** When the last synchronisation began that read the whole list; null before one came to its end. */
  syncedAtMs: number | null;
  /** When the last one began that read at least what is new; never before `syncedAtMs`. */
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
