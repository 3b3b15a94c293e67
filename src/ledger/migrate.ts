import { type Kysely, Migrator, sql } from "kysely";
import { LedgerError } from "./errors.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { Tables } from "./tables.ts";

const LOCK = "fiscalflow_migrations";

/**
 * Brings the tables to what this version needs. Many processes may do so at once: the lock is the transaction's.
 * @param db in a transaction
 * @throws the error of the database; LedgerError when the tables are newer than this version knows
 */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${LOCK}, 0))`.execute(db);
  const migrator = new Migrator({
    db,
    disableTransactions: true,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: "fiscalflow_migrations",
    migrationLockTableName: "fiscalflow_migrations_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof Error && error.message.startsWith("corrupted migrations"))
    throw new LedgerError(
      `The ledger's tables were made by a newer version of fiscalflow (${error.message}): upgrade this one.`,
      { cause: error },
    );
  throw error;
}
