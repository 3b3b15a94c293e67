import type { CallTarget, Refusal } from "./calls.ts";
import type { ConnectionProfile } from "./connection.ts";

/** Input of the `syncPurchases` workflow. */
export interface SyncPurchasesInput {
  connection?: string;
  businessId?: string;
  /** Only invoices of that day (`YYYY-MM-DD`) and later: the whole of that window is read. */
  from?: string;
  /** The whole list, and what is not in it any more. */
  full?: boolean;
}

/**
 * - `recent`: newest first until known ground, then every invoice that may still change
 * - `full`: the whole list
 * - `window`: all from a day on
 */
export type PurchasesSyncKind = "recent" | "full" | "window";

/** `unidentified`: a row had no id that can be read, so nothing that was not seen is known to have vanished. */
export interface CompletePurchasesSync extends PurchasesSync {
  unidentified?: boolean | undefined;
}

/** One synchronisation, over however many runs of its workflow. */
export interface PurchasesSync extends Pick<CallTarget, "connection" | "businessId"> {
  syncId: string;
  kind: PurchasesSyncKind;
}

export interface PreparedPurchasesSync {
  profile: ConnectionProfile;
  kind: PurchasesSyncKind;
  from?: string;
}

/**
 * Which part of the list is read: all of it in its order, one status, or (`changed`) the days of invoices that were open and are not any
 * more, since only the list says what became of them.
 */
export type PurchasesPass = "list" | "pulled" | "pending_review" | "changed";

/** Days, `YYYY-MM-DD`, both of which belong to it. */
export interface PurchasesWindow {
  from: string;
  to: string;
}

export interface PurchasesPageRequest extends CallTarget {
  syncId: string;
  pass: PurchasesPass;
  /** Of the page before, unchanged. */
  cursor?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** What a page came to. Its rows are in the ledger and nowhere else. */
export type PurchasesPageResult =
  | {
      kind: "page";
      rows: number;
      added: number;
      changed: number;
      /** Rows at the end of the page, without a gap, that an earlier synchronisation has listed. */
      knownAtEnd: number;
      /** `null` on the last page. */
      nextCursor: string | null;
      /** Rows that are not of their form; absent where there is none. */
      leftOut?: number;
      /** One of them has no id that can be read: it could be any. */
      unidentified?: true;
      /** The same for two pages that hold the same rows in the same order; absent where there are none. */
      fingerprint?: string;
    }
  | Refusal;

export type PullPurchasesResult = { kind: "pulled" } | Refusal;

/** What is worth a person's look, counted in the ledger after a synchronisation. Lists are cut, counts are not. */
export interface PurchasesFindings {
  /** One supplier's PIN and number under two ids. */
  duplicates: { count: number; first: { supplierPin: string; supplierInvoiceNumber: string; purchaseIds: string[] }[] };
  confirmationErrors: {
    count: number;
    first: { purchaseId: string; supplierInvoiceNumber: string; confirmationError: string }[];
  };
  /** Once listed, and not in the list of the latest full synchronisation. */
  missing: { count: number; first: string[] };
}

export interface PurchasesProgress {
  kind: PurchasesSyncKind;
  pages: number;
  rows: number;
  added: number;
  changed: number;
  /** Rows that are not of their form, as often as they were read; absent where there is none. `fiscalflow doctor` names the field. */
  leftOut?: number;
}

/** Result of the `syncPurchases` workflow. */
export interface SyncPurchasesOutcome extends PurchasesProgress {
  /** What the ledger holds now. */
  total: number;
  byStatus: Record<string, number>;
  findings: PurchasesFindings;
}
