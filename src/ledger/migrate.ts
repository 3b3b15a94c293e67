import { type Kysely, Migrator, sql } from "kysely";

import { LedgerError, LedgerUnavailableError } from "./errors.ts";
import { BASELINE_0_5, MIGRATIONS } from "./migrations.ts";
import type { Tables } from "./tables.ts";

const TABLE = "fiscalflow_migrations";
const LOCK = "fiscalflow_migrations";

/**
 * Brings the tables to what this version needs, as their owner. Many processes may do so at once: the lock is the
 * transaction's.
 * @param db in a transaction
 * @param workerRole the login of the workers: it gets what it needs of the tables, and no more
 * @throws the error of the database; LedgerError when the tables are newer than this version knows
 */
export async function migrate(db: Kysely<Tables>, workerRole: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${LOCK}, 0))`.execute(db);
  const { rows } = await sql<{ may: boolean; role: string }>`
    select current_user as role, coalesce(has_schema_privilege(current_schema(), 'create'), false) as may`.execute(db);
  const [{ may, role } = { may: false, role: "" }] = rows;
  // Where the tables are there already, nothing is to be made.
  if (!may && !areComplete(await migrationsMade(db)))
    throw new LedgerUnavailableError(
      `The login ${role} may not make the ledger's tables: give LEDGER_OWNER_URL, the address with the login that owns the database.`,
    );
  const migrator = new Migrator({
    db,
    disableTransactions: true,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: TABLE,
    migrationLockTableName: `${TABLE}_lock`,
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error instanceof Error && error.message.startsWith("corrupted migrations"))
    throw newerTables(error.message, error);
  if (error !== undefined) throw error;
  if (results.length > 0 || !(await canWrite(db, workerRole))) await grant(db, workerRole);
}

/** The role of a connection as the server knows it: a pooler may have another name for it. */
export async function roleOf(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(db);
  return rows[0]?.role ?? "";
}

/**
 * Looks whether the tables are those of this version, as the workers' role, which can change none of them.
 * @throws LedgerUnavailableError where somebody is still to set them up; LedgerError when they are newer
 */
export async function checkTables(db: Kysely<Tables>): Promise<void> {
  const names = await migrationsMade(db);
  const unknown = [...names].filter((name) => !(name in MIGRATIONS));
  if (unknown.length > 0) throw newerTables(unknown.join(", "));
  if (areComplete(names)) return;
  const what = names.size === 0 ? "has no tables of fiscalflow yet" : "has the tables of an earlier version";
  throw new LedgerUnavailableError(
    `The ledger's database ${what}: run \`fiscalflow setup\` with LEDGER_OWNER_URL, the address with the login that owns them.`,
  );
}

async function migrationsMade(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const { rows: tables } = await sql<{ there: boolean }>`select to_regclass(${TABLE}) is not null as there`.execute(db);
  if (!tables[0]?.there) return new Set();
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)}`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

function areComplete(made: ReadonlySet<string>): boolean {
  return Object.keys(MIGRATIONS).every((name) => made.has(name));
}

function newerTables(found: string, cause?: Error): LedgerError {
  if (found.includes(BASELINE_0_5))
    return new LedgerError(
      "The ledger's tables were made by release 0.5, and nothing of it carries over to 1.0: keep that database for its records, and name an empty one (LEDGER_URL, or FISCALFLOW_HOME).",
      { cause },
    );
  const message = `The ledger's tables were made by a newer version of fiscalflow (${found}): upgrade this one.`;
  return new LedgerError(message, { cause });
}

/** The rows of all are read, added and changed by workers, but for those below. */
const WRITABLE = [
  "documents",
  "movements",
  "stock_branch_holds",
  "quota_windows",
  "purchases",
  "bill_payments",
  "syncs",
  "sync_batches",
  "item_registrations",
  "observations",
  "reconcile_findings",
];
/** Logs, to which rows are added alone. */
const ADDED_TO = ["webhook_events"];
/** The events are written by `append_events`, which runs with the owner's rights. */
const READABLE = ["events", "event_heads", TABLE, `${TABLE}_lock`];

async function canWrite(db: Kysely<Tables>, role: string): Promise<boolean> {
  const { rows } = await sql<{ can: boolean }>`
    select has_table_privilege(${role}, 'documents', 'insert') as can`.execute(db);
  return rows[0]?.can === true;
}

/** Nobody but the owner changes a table, or makes a temporary one. */
async function grant(db: Kysely<Tables>, workerRole: string): Promise<void> {
  const { rows } = await sql<{ isOwner: boolean; name: string; schema: string; isOurs: boolean }>`
    select current_user = ${workerRole} as "isOwner", datname as name, current_schema() as schema,
      pg_has_role(datdba, 'usage') as "isOurs"
    from pg_database where datname = current_database()`.execute(db);
  const [here] = rows;
  if (!here || here.isOwner) return;
  const [role, schema, database] = [sql.id(workerRole), sql.id(here.schema), sql.id(here.name)];
  const named = (tables: readonly string[]) => sql.join(tables.map((table) => sql.id(table)));
  for (const statement of [
    sql`grant usage on schema ${schema} to ${role}`,
    sql`grant select on ${named(READABLE)} to ${role}`,
    sql`grant select, insert on ${named(ADDED_TO)} to ${role}`,
    sql`grant select, insert, update on ${named(WRITABLE)} to ${role}`,
    sql`grant usage on sequence movement_order to ${role}`,
    sql`grant execute on function append_events to ${role}`,
  ])
    await statement.execute(db);
  // Who does not own the database has had it made by somebody who does (deploy/postgres/databases.sql).
  if (!here.isOurs) return;
  await sql`revoke temporary on database ${database} from public`.execute(db);
  await sql`grant connect on database ${database} to ${role}`.execute(db);
}
