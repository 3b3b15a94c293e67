import { clockMs } from "../clock-ms.ts";
import type { Database } from "../database.ts";
import type { BillPayments } from "./bill-payments.ts";
import { historyOf } from "./events.ts";
import { keepPage } from "./keep-page.ts";
import { page, summary } from "./read.ts";
import { begin, compareRound, end, knownUntil, markMissing, markWithoutStatus } from "./sync.ts";
import { verifyBillPayments } from "./verify.ts";

/** Looking at every payment of a connection takes longer than one operation where there are very many. */
const WHOLE_WITHIN_MS = 20_000;

/** Each operation is one transaction, which may run again after a broken connection; `complete` is several, each of which may. */
export function createBillPayments(database: Database): BillPayments {
  return {
    now: () => database.transact(clockMs),
    begin: (sync) => database.transact((db) => begin(db, sync)),
    knownUntil: (connection) => database.transact((db) => knownUntil(db, connection)),
    keepPage: (request) => database.transact((db) => keepPage(db, request)),
    compareRound: (connection, round, how) =>
      database.transact((db) => compareRound(db, connection, round, how), WHOLE_WITHIN_MS),
    async complete(sync, { settled, knownUntilMs, round }, writer) {
      if (settled && round !== undefined) {
        while (await database.transact((db) => markMissing(db, sync, round, writer), WHOLE_WITHIN_MS));
        while (await database.transact((db) => markWithoutStatus(db, sync, round, writer), WHOLE_WITHIN_MS));
      }
      await database.transact((db) => end(db, sync, { settled, knownUntilMs }));
    },
    summary: (connection) => database.transact((db) => summary(db, connection), WHOLE_WITHIN_MS),
    page: (connection, request) => database.transact((db) => page(db, connection, request)),
    verify: ({ connection, businessId }) => verifyBillPayments(database, { connection, business_id: businessId }),
    history: (connection, id) => database.transact((db) => historyOf(db, connection, id)),
  };
}
