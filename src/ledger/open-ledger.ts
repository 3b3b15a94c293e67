import { sql } from "kysely";

import { type BillPayments, createBillPayments } from "./bill-payments/create-bill-payments.ts";
import { openDatabase } from "./database.ts";
import { createDocuments, type Documents } from "./documents/documents.ts";
import { createEventLog, type Events } from "./events/create-events.ts";
import { createItemRegistrations, type ItemRegistrations } from "./items/registrations.ts";
import { createObservationLog, type Observations } from "./observations/observations.ts";
import { createPurchases, type Purchases } from "./purchases/create-purchases.ts";
import type { QuotaCounts } from "./quota/counts.ts";
import { createQuotaCounts } from "./quota/quota-counts.ts";
import { createReconciliation } from "./reconcile/create-reconciliation.ts";
import type { Reconciliation } from "./reconcile/reconcile.ts";
import { createReports, type Reports } from "./reports/create-reports.ts";
import { type LostExecution, lostExecutions } from "./claims/lost-executions.ts";
import type { StockClaims } from "./stock/claims.ts";
import { createStockClaims } from "./stock/create-stock-claims.ts";
import { createSyncBatches } from "./sync-batches/create-sync-batches.ts";
import type { SyncBatches } from "./sync-batches/sync-batches.ts";
import { createWebhookEvents, type WebhookEvents } from "./webhook-events/webhook-events.ts";

export interface LedgerOptions {
  /** Of a PostgreSQL server; without it the product's own is started, and shared by the processes of this host. */
  url?: string | undefined;
  /** The same with the login that owns the tables: makes them, or brings them to this version. Default: somebody else did. */
  ownerUrl?: string | undefined;
  /** The product's folder; the embedded server keeps its data in `postgres` under it. */
  home: string;
  /** Called with what is going on while the embedded server is made and started. */
  onProgress?: ((line: string) => void) | undefined;
  /** In milliseconds, for one operation, after which it throws LedgerUnavailableError. Default: 3,000. */
  operationTimeoutMs?: number | undefined;
}

/** What must outlive Temporal's retention (docs/architecture.md, "The ledger"). */
export interface Ledger {
  readonly stock: StockClaims;
  readonly documents: Documents;
  readonly quota: QuotaCounts;
  readonly purchases: Purchases;
  readonly billPayments: BillPayments;
  readonly syncBatches: SyncBatches;
  readonly items: ItemRegistrations;
  readonly events: Events;
  readonly reports: Reports;
  readonly reconciliation: Reconciliation;
  readonly webhookEvents: WebhookEvents;
  readonly observations: Observations;
  /**
   * The runs whose execution took the claim of an at-most-once call, and never wrote how it ended, though the time in
   * which it may send has passed since then (Unix milliseconds).
   * @throws LedgerUnavailableError
   */
  lostExecutions(sinceMs: number): Promise<LostExecution[]>;
  /**
   * Connects now; the very first start of the embedded server, and the making of the tables, may take up to 30 s.
   * @throws LedgerUnavailableError, LedgerError
   */
  ready(): Promise<void>;
  /**
   * Asks whether the database takes writes now: a read-only one, as after a failover, answers and takes no claim.
   * @throws LedgerUnavailableError within the time of one operation
   */
  answers(): Promise<void>;
  /** Operations after it throw. The last user of the embedded server waits until it has stopped. */
  close(): Promise<void>;
}

/**
 * Returns at once. The connection, the embedded server and the tables are made by the first operation, or by
 * `ready`, and made again by later ones after a failure.
 */
export function openLedger(options: LedgerOptions): Ledger {
  const database = openDatabase(options);
  return {
    stock: createStockClaims(database),
    documents: createDocuments(database),
    quota: createQuotaCounts(database),
    purchases: createPurchases(database),
    billPayments: createBillPayments(database),
    syncBatches: createSyncBatches(database),
    items: createItemRegistrations(database),
    events: createEventLog(database),
    reports: createReports(database),
    reconciliation: createReconciliation(database),
    webhookEvents: createWebhookEvents(database),
    observations: createObservationLog(database),
    lostExecutions: (sinceMs) => database.query((db) => lostExecutions(db, sinceMs)),
    ready: () => database.ready(),
    // Changes no row: a read-only database, or one that forbids it, refuses the statement all the same.
    answers: () =>
      database.transact(async (db) => void (await sql`update movements set state = state where false`.execute(db))),
    close: () => database.close(),
  };
}
