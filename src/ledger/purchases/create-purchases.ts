import { clockMs } from "../clock-ms.ts";
import type { Database } from "../database.ts";
import { historyOf } from "./events.ts";
import { keepPage } from "./keep-page.ts";
import type { Purchases } from "./purchases.ts";
import { page, summary } from "./read.ts";
import { verifyPurchases } from "./verify.ts";
import { begin, end, groundSome, markMissing, unseen, windowsOfChanged } from "./sync.ts";

/** Counting all purchases of a business takes longer than one operation where there are very many. */
const SUMMARY_WITHIN_MS = 20_000;

/** Each operation is one transaction, which may run again after a broken connection; `complete` is several, each of which may. */
export function createPurchases(database: Database): Purchases {
  return {
    now: () => database.transact(clockMs),
    begin: (sync) => database.transact((db) => begin(db, sync)),
    keepPage: (request) => database.transact((db) => keepPage(db, request)),
    unseen: (sync) => database.transact((db) => unseen(db, sync)),
    windowsOfChanged: (sync) => database.transact((db) => windowsOfChanged(db, sync)),
    async complete(sync, writer) {
      if (sync.kind === "full" && sync.unidentified !== true)
        while (await database.transact((db) => markMissing(db, sync, writer)));
      // A window says nothing of what is older, so its end is not known ground.
      if (sync.kind !== "window") while (await database.transact((db) => groundSome(db, sync)));
      await database.transact((db) => end(db, sync));
    },
    summary: (scope, most) => database.transact((db) => summary(db, scope, most), SUMMARY_WITHIN_MS),
    page: (scope, request) => database.transact((db) => page(db, scope, request)),
    verify: ({ connection, businessId }) => verifyPurchases(database, { connection, business_id: businessId }),
    history: (scope, purchaseId) => database.transact((db) => historyOf(db, scope, purchaseId)),
  };
}
