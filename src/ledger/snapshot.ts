import { type RawBuilder, sql } from "kysely";

import type { Database, Queries } from "./database.ts";
import { LedgerUnavailableError } from "./errors.ts";

/** Rows in memory at a time. */
const PAGE = 500;
/** A hundred thousand take seconds: the rest is for a reader that is slow to take them. */
const READ_WITHIN_MS = 3_600_000;

/**
 * Gives `read` what `prepare` finds, all from one state of the ledger, which lasts until `read` has ended. `read` runs
 * once: what it has written cannot be taken back when the connection breaks.
 * @throws LedgerUnavailableError, LedgerError, and what `read` throws
 */
export async function readSnapshot<Found, Result>(
  database: Database,
  prepare: (db: Queries) => Promise<Found>,
  read: (found: Found) => Promise<Result>,
): Promise<Result> {
  let begun = false;
  let ended: (() => Result) | undefined;
  await database.transact(async (db) => {
    // Only the end of the transaction was lost, and it changes nothing.
    if (ended) return;
    if (begun) throw broken();
    await sql`set transaction isolation level repeatable read read only`.execute(db);
    const found = await prepare(db);
    begun = true;
    try {
      const result = await read(found);
      ended = () => result;
    } catch (error) {
      if (error instanceof LedgerUnavailableError) throw error;
      // Of the reader's own: not to be taken for news about the database.
      ended = () => {
        throw error;
      };
    }
  }, READ_WITHIN_MS);
  if (!ended) throw new Error("a transaction has run");
  return ended();
}

/** The rows of a query, page by page: by a cursor, since they are found and sorted once for all pages. */
export async function* pagesOf<Row>(db: Queries, query: RawBuilder<unknown>): AsyncGenerator<Row[]> {
  try {
    await sql`declare listed_rows no scroll cursor for ${query}`.execute(db);
    for (;;) {
      const { rows } = await sql<Row>`fetch ${sql.lit(PAGE)} from listed_rows`.execute(db);
      if (rows.length > 0) yield rows;
      if (rows.length < PAGE) break;
    }
    await sql`close listed_rows`.execute(db);
  } catch (error) {
    throw broken(error);
  }
}

function broken(cause?: unknown): LedgerUnavailableError {
  return new LedgerUnavailableError(
    "The connection to the ledger broke while a list was read: the list is not complete. Start it again.",
    { cause },
  );
}
