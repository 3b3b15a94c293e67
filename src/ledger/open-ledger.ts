import { sql } from "kysely";

import { createBillPayments } from "./books/bill-payments.ts";
import { openDatabase, type Queries } from "./database.ts";
import { createDocuments } from "./documents/documents.ts";
import { createEventLog } from "./events/events.ts";
import { erase, eraseAgain, type EraseRequest, type Erasure } from "./erasure/erase.ts";
import { createFleet } from "./fleet.ts";
import { createItemRegistrations } from "./item-registrations.ts";
import { createObservationLog } from "./observations.ts";
import { moveLedger, type MovedRows } from "./move.ts";
import { createPurchases } from "./books/purchases.ts";
import { createQuotaCounts } from "./quota-counts.ts";
import { createReconciliation } from "./books/reconciliation.ts";
import { createReports } from "./books/reports.ts";
import { lostExecutions } from "./claims/claim.ts";
import { acceptPlace, holdPlace, lastEventMs, type SeenPlace, readPlace, requirePlace } from "./place.ts";
import { createStockClaims } from "./stock/stock-claims.ts";
import { createSyncBatches } from "./sync-batches/sync-batches.ts";
import { verifyLedger, type VerifyRequest } from "./verify.ts";

export interface LedgerOptions {
  /** Of a PostgreSQL server; without it the product's own is started, and shared by the processes of this host. */
  url?: string | undefined;
  /** The same with the login that owns the tables: makes them, or brings them to this version. Default: somebody else did. */
  ownerUrl?: string | undefined;
  /** Works with the login that owns the tables: `url`, if given, is with it. Default: as the workers do. */
  asOwner?: boolean | undefined;
  /** The product's folder; the embedded server keeps its data in `postgres` under it. */
  home: string;
  /** Called with what is going on while the embedded server is made and started. */
  onProgress?: ((line: string) => void) | undefined;
  /** In milliseconds, for one operation, after which it throws LedgerUnavailableError. Default: 3,000. */
  operationTimeoutMs?: number | undefined;
  /**
   * For a process that writes: what this namespace's workers have seen of the ledger last. Where the database is
   * another one, or has lost something, each operation throws LedgerUnavailableError. Default: nobody looks.
   */
  seen?: SeenPlace | undefined;
}

export type Ledger = ReturnType<typeof openLedger>;

/**
 * What must outlive Temporal's retention (docs/ledger.md). Returns at once. The first operation, or `ready`, connects,
 * and brings up the embedded server and the tables; after a failure the next one tries it anew.
 */
export function openLedger(options: LedgerOptions) {
  const { seen } = options;
  const verify = seen && ((db: Queries) => requirePlace(db, seen));
  const database = openDatabase({ ...options, verify });
  return {
    stock: createStockClaims(database),
    documents: createDocuments(database),
    quota: createQuotaCounts(database),
    fleet: createFleet(database),
    purchases: createPurchases(database),
    billPayments: createBillPayments(database),
    syncBatches: createSyncBatches(database),
    items: createItemRegistrations(database),
    events: createEventLog(database),
    reports: createReports(database),
    reconciliation: createReconciliation(database),
    observations: createObservationLog(database),
    /**
     * The runs whose execution took the claim of an at-most-once call, and never wrote how it ended, though the time in
     * which it may send has passed since then (Unix milliseconds).
     * @throws LedgerUnavailableError
     */
    lostExecutions: (sinceMs: number) => database.query((db) => lostExecutions(db, sinceMs)),
    /** When the newest event was written (Unix milliseconds); undefined: there is none. */
    lastEventMs: () => database.query(lastEventMs),
    /** Where the ledger is, and how much it has. @throws LedgerUnavailableError */
    place: () => database.query(readPlace),
    /**
     * No worker uses the database, whatever is written to it, until `acceptPlace`.
     * @param lostFromMs its newest event as it was found (Unix milliseconds)
     * @throws LedgerUnavailableError
     */
    holdPlace: (lostFromMs?: number, lostUntilMs?: number) =>
      database.query((db) => holdPlace(db, lostFromMs, lostUntilMs)),
    /**
     * From now on the workers use the database as it is. @param lostUntilMs undefined: it has lost nothing @throws
     * LedgerUnavailableError
     */
    acceptPlace: (lostUntilMs?: number) => database.query((db) => acceptPlace(db, lostUntilMs)),
    /**
     * Copies all of it to an empty database whose tables are there, and has this one refuse workers from then on.
     * @param url with the login that owns the tables
     * @param told the table that is copied, and how many of its rows are
     * @throws LedgerError where somebody else uses this one, or the other one has rows; LedgerUnavailableError
     */
    async moveTo(url: string, told: (table: string, rows: number) => void): Promise<MovedRows> {
      const to = openDatabase({ url, home: options.home, operationTimeoutMs: options.operationTimeoutMs });
      try {
        await to.ready();
        return await moveLedger(database, to, told);
      } finally {
        await to.close();
      }
    },
    /**
     * Erases what is said of customers (docs/privacy.md): with `asOwner` alone.
     * @throws LedgerError, LedgerUnavailableError
     */
    erase: (request: EraseRequest) => erase(database, request),
    /** The same of what was erased before the database was restored. */
    eraseAgain: (erasures: AsyncIterable<Erasure>, order: Pick<EraseRequest, "writer" | "keptFrom">) =>
      eraseAgain(database, erasures, order),
    /** Holds what it has against `seen` anew, before anything else is done. */
    recheck: () => database.recheck(),
    /** Holds each chain, and the rows that it tells of, against its events; only reads. @throws LedgerUnavailableError */
    verify: (request?: VerifyRequest) => verifyLedger(database, request),
    /**
     * Connects now; the very first start of the embedded server, and the making of the tables, may take up to 30 s.
     * @throws LedgerUnavailableError, LedgerError
     */
    ready: () => database.ready(),
    /**
     * Asks whether the database takes writes now: a read-only one, as after a failover, answers and takes no claim. The
     * statement changes no row, and is refused there all the same.
     * @throws LedgerUnavailableError within the time of one operation
     */
    answers: () =>
      database.query(async (db) => void (await sql`update movements set state = state where false`.execute(db))),
    /** Operations after it throw. The last user of the embedded server waits until it has stopped. */
    close: () => database.close(),
  };
}
