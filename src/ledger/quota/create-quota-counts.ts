import type { Database } from "../database.ts";
import type { QuotaCounts } from "./counts.ts";
import { settle } from "./settle.ts";
import { spend } from "./spend.ts";

/** No transactions: each is one statement that stands for itself, and a caller cannot wait long. */
export function createQuotaCounts(database: Database): QuotaCounts {
  return {
    spend: (request, withinMs) => database.query((db) => spend(db, request), withinMs),
    settle: (request, withinMs) => database.query((db) => settle(db, request), withinMs),
  };
}
