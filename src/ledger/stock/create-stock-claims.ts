import type { Database } from "../database.ts";
import { balanceAround } from "./balance-around.ts";
import { isLookedAt, lookedAt, openHold, openHolds } from "./branch-holds.ts";
import type { StockClaims } from "./claims.ts";
import { decide } from "./decide.ts";
import { disputeOf, disputes } from "./disputes.ts";
import { close, history, read, readOrBury } from "./read.ts";
import { keptOutcome, settle, settleHeld } from "./settle.ts";
import { ended, take, takeFirst } from "./take.ts";
import { taken } from "./taken.ts";
import { verifyMovements } from "./verify.ts";

/** Each operation is one statement or one transaction, and may run again after a broken connection. */
export function createStockClaims(database: Database): StockClaims {
  return {
    take: (request) =>
      database.inOneStatement(
        (db) => takeFirst(db, request),
        (db) => take(db, request),
      ),
    ended: (request) => database.query((db) => ended(db, request)),
    settle(request) {
      const kept = { ...request, outcome: keptOutcome(request.outcome) };
      return database.inOneStatement(
        (db) => settleHeld(db, kept),
        (db) => settle(db, kept),
      );
    },
    readOrBury: (request) => database.transact((db) => readOrBury(db, request)),
    read: (key) => database.query((db) => read(db, key)),
    taken: (request) => database.query((db) => taken(db, request)),
    close: (request) => database.transact((db) => close(db, request)),
    decide: (request) => database.transact((db) => decide(db, request)),
    balanceAround: (key) => database.transact((db) => balanceAround(db, key)),
    branchHold: (connection, sentAs) => database.query((db) => openHold(db, connection, sentAs)),
    openBranchHolds: () => database.query(openHolds),
    acknowledgeBranch: (key, other, word) => database.transact((db) => lookedAt(db, key, other, word)),
    isBranchAcknowledged: (key, other) => database.query((db) => isLookedAt(db, key, other)),
    disputeOf: (key) => database.query((db) => disputeOf(db, key)),
    disputes: (days) => database.query((db) => disputes(db, days)),
    verify: ({ connection, businessId }) => verifyMovements(database, { connection, business_id: businessId }),
    history: (key) => database.query((db) => history(db, key)),
  };
}
