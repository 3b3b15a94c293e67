import { type Kysely, Migrator } from "kysely";
import { LedgerError } from "./errors.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { Tables } from "./tables.ts";

/**
 * Brings the tables to what this version needs. Many processes may do so at once: kysely's migrator holds an advisory
 * lock of the transaction in which it migrates.
 * @throws the error of the database; LedgerError when the tables are newer than this version knows
 */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({
    db,
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
