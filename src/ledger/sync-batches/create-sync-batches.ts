import type { Database } from "../database.ts";
import { decide, ended, read, readOrBury, settle, take } from "./claim.ts";
import type { SyncBatches } from "./sync-batches.ts";
import { verifySyncBatches } from "./verify.ts";

/** Each operation is one transaction, which may run again after a broken connection. */
export function createSyncBatches(database: Database): SyncBatches {
  return {
    take: (request) => database.transact((db) => take(db, request)),
    ended: (request) => database.query((db) => ended(db, request)),
    settle: (request) => database.transact((db) => settle(db, request)),
    readOrBury: (request) => database.transact((db) => readOrBury(db, request)),
    decide: (request) => database.transact((db) => decide(db, request)),
    verify: ({ connection, businessId }) => verifySyncBatches(database, { connection, business_id: businessId }),
    read: (key) => database.transact((db) => read(db, key)),
  };
}
