import { sql } from "kysely";

import type { Database, Queries } from "./database.ts";
import { LedgerError } from "./errors.ts";
import { acceptPlace, type KnownPlace, MOVED, readPlace } from "./place.ts";
import { TABLES } from "./tables.ts";

/** How many rows of each table were copied, of those that have some. */
export type MovedRows = Partial<Record<keyof typeof TABLES, number>>;

const AT_ONCE = 500;
const WITHIN_MS = 6 * 60 * 60_000;

/**
 * Copies the ledger to an empty database, in one transaction, and has the old one refuse workers from then on.
 * @param to with the login that owns its tables
 * @param told the table that is copied, and how many of its rows are
 * @throws LedgerError where somebody else uses the old one, or the new one has rows; LedgerUnavailableError
 */
export async function moveLedger(
  from: Database,
  to: Database,
  told: (table: string, rows: number) => void,
): Promise<MovedRows> {
  const moved = await from.transact(async (source) => {
    await requireAlone(source);
    const before = await readPlace(source);
    const rows = await to.transact(async (target) => {
      await requireEmpty(target, before);
      const copied = await copyTables(source, target, told);
      // Numbers are given on where the old database stopped.
      const orders = sql`select greatest(max(taken_order), max(settled_order), 1) from movements`;
      await sql`select setval('movement_order', (${orders}))`.execute(target);
      return copied;
    }, WITHIN_MS);
    if ((await readPlace(source)).events !== before.events)
      throw new LedgerError(
        "A worker has written to the ledger while it was copied: stop all of them, and begin anew.",
      );
    return rows;
  }, WITHIN_MS);
  // First: a process that dies between the two leaves no database that workers take, and never two.
  await from.query((source) => sql`update ledger_place set server = ${MOVED}`.execute(source));
  await to.query((target) => acceptPlace(target, undefined));
  return moved;
}

/** What `quota_windows` counts, and `turns` has, begins anew by itself. */
const COPIED = Object.entries(TABLES).filter(([, { unlogged }]: [string, { unlogged?: true }]) => unlogged !== true);

async function copyTables(
  source: Queries,
  target: Queries,
  told: (table: string, rows: number) => void,
): Promise<MovedRows> {
  const moved: Record<string, number> = {};
  for (const [name, { columns, key }] of COPIED) {
    const written = Object.entries(columns).filter(([, type]) => !type.includes("generated always"));
    const listed = sql.join(written.map(([column]) => sql.id(column)));
    const table = sql.table(name);
    // Rows travel as text: nobody's numbers change on the way.
    await sql`
      declare rows_of_table no scroll cursor for
      select row_to_json(t)::text as row from (select ${listed} from ${table} order by ${sql.raw(key)}) as t`.execute(
      source,
    );
    for (let count = 0; ;) {
      const { rows } = await sql<{ row: string }>`fetch ${sql.lit(AT_ONCE)} from rows_of_table`.execute(source);
      if (rows.length === 0) break;
      const all = `[${rows.map(({ row }) => row).join(",")}]`;
      await sql`
        insert into ${table} (${listed})
        select ${listed} from json_populate_recordset(null::${table}, ${all}::json)`.execute(target);
      moved[name] = count += rows.length;
      told(name, count);
    }
    await sql`close rows_of_table`.execute(source);
  }
  return moved;
}

async function requireAlone(db: Queries): Promise<void> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from pg_stat_activity
    where datname = current_database() and application_name = 'fiscalflow' and pid <> pg_backend_pid()`.execute(db);
  const others = Number(rows[0]?.count);
  if (others > 0)
    throw new LedgerError(
      `The ledger is in use, by ${others} other connections of fiscalflow: stop all workers, and begin anew.`,
    );
}

/** Tables that `setup` has made, and nobody has written to. */
async function requireEmpty(db: Queries, source: KnownPlace): Promise<void> {
  const there = await readPlace(db);
  await sql`delete from ledger_place`.execute(db);
  for (const [name] of COPIED) {
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0) throw new LedgerError(notEmpty(name, source, there));
  }
}

function notEmpty(table: string, source: KnownPlace, there: KnownPlace): string {
  if (there.ledger !== source.ledger)
    return `The database to move to has rows in ${table}: give it one that \`fiscalflow setup\` has made.`;
  if (source.knownServer === MOVED)
    return "The ledger was moved to this database already: set LEDGER_URL to it, and run `fiscalflow ledger restored --lossless`. To use the one in the home instead, run that without LEDGER_URL.";
  return `The database to move to has a copy of this ledger (events: ${there.events}; the one in the home, which workers still take, has ${source.events}). If no worker has used the copy, move to another database that \`fiscalflow setup\` has made. If one has, set LEDGER_URL to the copy, and run \`fiscalflow ledger restored --lossless\`.`;
}
