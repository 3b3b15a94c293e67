import type { Database } from "../database.ts";
import { balanceAround } from "./balance-around.ts";
import { isLookedAt, lookedAt, openHold, openHolds } from "./branch-holds.ts";
import type { StockClaims } from "./claims.ts";
import { decide } from "./decide.ts";
import { history, read, readOrBury } from "./read.ts";
import { settle } from "./settle.ts";
import { take } from "./take.ts";
import { taken } from "./taken.ts";

/** Each operation is one transaction, which may run again after a broken connection. */
export function createStockClaims(database: Database): StockClaims {
  return {
    take: (request) => database.transact((db) => take(db, request)),
    settle: (request) => database.transact((db) => settle(db, request)),
    readOrBury: (request) => database.transact((db) => readOrBury(db, request)),
    read: (key) => database.transact((db) => read(db, key)),
    taken: (request) => database.transact((db) => taken(db, request)),
    decide: (request) => database.transact((db) => decide(db, request)),
    balanceAround: (key) => database.transact((db) => balanceAround(db, key)),
    branchHold: (connection, sentAs) => database.transact((db) => openHold(db, connection, sentAs)),
    openBranchHolds: () => database.transact(openHolds),
    acknowledgeBranch: (key, other, word) => database.transact((db) => lookedAt(db, key, other, word)),
    isBranchAcknowledged: (key, other) => database.transact((db) => isLookedAt(db, key, other)),
    history: (key) => database.transact((db) => history(db, key)),
  };
}
