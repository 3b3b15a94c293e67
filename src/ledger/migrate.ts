import { createHash } from "node:crypto";
import { type Kysely, type RawBuilder, sql } from "kysely";

import { LedgerUnavailableError, NewerTablesError } from "./errors.ts";
import { type Table, TABLES, type Tables } from "./tables.ts";

/**
 * What brings the tables from each version to the next; what has been released is never edited. The first makes what
 * `TABLES` names no step of, and a database in which it made something else is refused. A later step adds the columns
 * and the tables that `TABLES` names as its own.
 */
const STEPS: readonly ((db: Kysely<Tables>) => Promise<void>)[] = [
  createTables,
  letContentsBeErased,
  letOneCountForAll,
];

/**
 * The oldest version whose processes work on the tables that the steps make: raised by a step that takes away what older
 * ones use (docs/ledger.md, "Tables that two releases share").
 */
const OLDEST = 1;

/**
 * Has one row: to which version the tables were brought, the oldest one that works on them, and the {@link baseline} that
 * the first step made.
 */
const SCHEMA = "fiscalflow_schema";

/**
 * Brings the tables to what this version needs, as their owner; those of a newer one stay as they are. Many processes
 * may do so at once: the lock is the transaction's.
 * @param db in a transaction
 * @param workerRole the login of the workers: it gets what it needs of the tables, and no more
 * @throws the error of the database; NewerTablesError when this version is too old for the tables; LedgerUnavailableError
 *   where they are from before 1.0
 */
export async function migrate(db: Kysely<Tables>, workerRole: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${SCHEMA}, 0))`.execute(db);
  const made = await versionOf(db);
  // Where the tables are there already, nothing is to be made.
  const steps = STEPS.slice(made);
  if (steps.length > 0) {
    const { may, role } = await answerOf<{ may: boolean; role: string }>(
      db,
      sql`select current_user as role, coalesce(has_schema_privilege(current_schema(), 'create'), false) as may`,
    );
    if (!may)
      throw new LedgerUnavailableError(
        `The login ${role} may not make the ledger's tables: give LEDGER_OWNER_URL, the address with the login that owns the database.`,
      );
    for (const step of steps) await step(db);
    await sql`update ${sql.table(SCHEMA)} set version = ${STEPS.length}, oldest = ${OLDEST}`.execute(db);
  }
  const { can } = await answerOf<{ can: boolean }>(
    db,
    sql`select has_table_privilege(${workerRole}, 'documents', 'insert') as can`,
  );
  if (steps.length > 0 || !can) await grant(db, workerRole);
}

/** The role of a connection as the server knows it: a pooler may have another name for it. */
export async function roleOf(db: Kysely<Tables>): Promise<string> {
  return (await answerOf<{ role: string }>(db, sql`select current_user as role`)).role;
}

/**
 * Looks whether this version works on the tables, as the workers' role, which can change none of them.
 * @throws LedgerUnavailableError where somebody is still to set them up; NewerTablesError as {@link migrate}
 */
export async function checkTables(db: Kysely<Tables>): Promise<void> {
  const made = await versionOf(db);
  if (made >= STEPS.length) return;
  const what = made === 0 ? "has no tables of fiscalflow yet" : "has the tables of an earlier version";
  throw new LedgerUnavailableError(
    `The ledger's database ${what}: run \`fiscalflow setup\` with LEDGER_OWNER_URL, the address with the login that owns them.`,
  );
}

/** To which version the tables were brought; 0: there are none. */
async function versionOf(db: Kysely<Tables>): Promise<number> {
  const { versioned, any } = await answerOf<{ versioned: boolean; any: boolean }>(
    db,
    sql`select to_regclass(${SCHEMA}) is not null as versioned, to_regclass('event_heads') is not null as any`,
  );
  if (!versioned && !any) return 0;
  const made = versioned
    ? await answerOf<{ version: number; oldest: number; baseline: string }>(
        db,
        sql`select version, oldest, baseline from ${sql.table(SCHEMA)}`,
      )
    : undefined;
  if (made && made.oldest > STEPS.length)
    throw new NewerTablesError(
      `The ledger's tables were brought to version ${made.version} by a newer fiscalflow, and take processes of version ${made.oldest} and later; this one is of version ${STEPS.length}: upgrade it.`,
    );
  if (made?.baseline !== baseline(db))
    throw new LedgerUnavailableError(
      "The ledger's tables were made by a fiscalflow from before 1.0, and this one cannot bring them to its own. Give it an empty database: drop this one and create it anew (fiscalflow's own: stop it, and delete `postgres` in FISCALFLOW_HOME), then run `fiscalflow setup`. What this one holds is lost with it.",
    );
  return made.version;
}

/** The same for two databases in which the first step made the same. */
function baseline(db: Kysely<Tables>): string {
  const functions = functionsIn(sql.id("ledger")).map((statement) => statement.compile(db).sql);
  return createHash("sha256")
    .update(JSON.stringify([FIRST_TABLES, functions]))
    .digest("hex");
}

/** As the first step makes them. */
const FIRST_TABLES = Object.fromEntries(
  Object.entries(TABLES)
    .filter(([, { step = 1 }]: [string, Declared]) => step === 1)
    .map(([name, { since = {}, columns, ...table }]: [string, Declared]) => [
      name,
      { columns: Object.fromEntries(Object.entries(columns).filter(([column]) => !(column in since))), ...table },
    ]),
);

type Declared = Table<Readonly<Record<string, string>>>;

/** Adds the columns and the tables of a step. */
async function addDeclared(db: Kysely<Tables>, step: number): Promise<void> {
  for (const [name, { since = {}, step: made, columns, ...table }] of Object.entries(TABLES) as [string, Declared][]) {
    if (made === step) await makeTable(db, name, { columns, ...table });
    for (const [column, type] of Object.entries(columns))
      if (since[column] === step)
        await sql`alter table ${sql.table(name)} add column ${sql.id(column)} ${sql.raw(type)}`.execute(db);
  }
}

/**
 * What is said about a person goes once the law no longer asks for it (erasure/erase.ts), and the chain still verifies:
 * its hashes are over a digest of each content. Only the owner of the tables may change an event, and only where a
 * transaction says that it erases.
 */
async function letContentsBeErased(db: Kysely<Tables>): Promise<void> {
  await addDeclared(db, 2);
  await sql`
    create or replace function refuse_change_of_events() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and current_setting('fiscalflow.erases', true) = 'yes' then return null; end if;
      raise exception 'the ledger''s events are append-only' using errcode = '0A000';
    end $$`.execute(db);
}

/**
 * One worker counts what all have left to do, by the needs of persons and the answers owed (fleet.ts); and a restore is
 * told to its end.
 */
async function letOneCountForAll(db: Kysely<Tables>): Promise<void> {
  await addDeclared(db, 3);
  for (const index of [
    "documents_that_need_a_person on documents (connection) where needs_person_since is not null",
    "movements_held on movements (under_way_until) where state = 'held'",
    "sync_batches_held on sync_batches (under_way_until) where state = 'held'",
  ])
    await sql.raw(`create index ${index}`).execute(db);
}

/** Of a statement that answers one row. */
async function answerOf<Row>(db: Kysely<Tables>, statement: RawBuilder<unknown>): Promise<Row> {
  const { rows } = await statement.execute(db);
  return rows[0] as Row;
}

/** Nobody but the owner changes a table, or makes a temporary one. */
async function grant(db: Kysely<Tables>, workerRole: string): Promise<void> {
  const here = await answerOf<{ isOwner: boolean; name: string; schema: string; isOurs: boolean }>(
    db,
    sql`
      select current_user = ${workerRole} as "isOwner", datname as name, current_schema() as schema,
        pg_has_role(datdba, 'usage') as "isOurs"
      from pg_database where datname = current_database()`,
  );
  if (here.isOwner) return;
  const [role, schema, database] = [sql.id(workerRole), sql.id(here.schema), sql.id(here.name)];
  const ofTables = Object.entries(TABLES).map(([name, { workers = "select, insert, update" }]) => {
    return sql`grant ${sql.raw(workers)} on ${sql.id(name)} to ${role}`;
  });
  for (const statement of [
    sql`grant usage on schema ${schema} to ${role}`,
    ...ofTables,
    sql`grant select on ${sql.id(SCHEMA)} to ${role}`,
    sql`grant usage on sequence movement_order to ${role}`,
    sql`grant execute on function append_events, may_be_lost, ledger_server to ${role}`,
  ])
    await statement.execute(db);
  // Who does not own the database has had it made by somebody who does (deploy/postgres/databases.sql).
  if (!here.isOurs) return;
  await sql`revoke temporary on database ${database} from public`.execute(db);
  await sql`grant connect on database ${database} to ${role}`.execute(db);
}

async function makeTable(db: Kysely<Tables>, name: string, table: Declared): Promise<void> {
  const { columns, key, checks = [], indexes = [], uniqueIndexes = [], fillfactor = 100, unlogged = false } = table;
  const parts = [
    ...Object.entries(columns).map(([column, type]) => `${column} ${type}`),
    `primary key (${key})`,
    ...checks.map((check) => `check (${check})`),
  ];
  const statements = [
    `create ${unlogged ? "unlogged " : ""}table ${name} (${parts.join(", ")}) with (fillfactor = ${fillfactor})`,
    ...indexes.map((index) => `create index ${index}`),
    ...uniqueIndexes.map((index) => `create unique index ${index}`),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

async function createTables(db: Kysely<Tables>): Promise<void> {
  await sql`create sequence movement_order`.execute(db);
  for (const [name, table] of Object.entries(FIRST_TABLES)) await makeTable(db, name, table);
  const { schema } = await answerOf<{ schema: string }>(db, sql`select current_schema() as schema`);
  for (const statement of functionsIn(sql.id(schema))) await statement.execute(db);
  await sql`
    create table ${sql.table(SCHEMA)} (version integer not null, oldest integer not null, baseline text not null)`.execute(
    db,
  );
  await sql`insert into ${sql.table(SCHEMA)} values (1, ${OLDEST}, ${baseline(db)})`.execute(db);
}

/**
 * Those that run with the owner's rights (`security definer`) qualify every name, and their search path has nothing of
 * the caller's: a temporary table named `events` changes nothing.
 */
function functionsIn(schema: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return [
    // Against mistakes, not against the owner of the tables: what gets around it is found by the hashes.
    sql`
      create function refuse_change_of_events() returns trigger language plpgsql as $$
      begin
        raise exception 'the ledger''s events are append-only' using errcode = '0A000';
      end $$`,
    sql`
      create trigger events_are_append_only before update or delete or truncate on events
      for each statement execute function refuse_change_of_events()`,
    // One lock an event chain, taken before anything is numbered, so that numbers have no gaps and times never go back.
    sql`
      create function append_events(
        of_connection text, of_business text,
        kinds text[], subjects text[], keys text[], workflow_ids text[], run_ids text[], contents text[]
      ) returns bigint[] language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
      declare
        last_number bigint;
        last text;
        now_ms bigint;
        salt text;
        hashed text;
        numbers bigint[] := array[]::bigint[];
      begin
        select h.count, h.last_hash into last_number, last from ${schema}.event_heads h
          where h.connection = of_connection and h.business_id = of_business for update;
        if not found then
          insert into ${schema}.event_heads (connection, business_id, count, last_hash)
            values (of_connection, of_business, 0, repeat('0', 64)) on conflict do nothing;
          select h.count, h.last_hash into strict last_number, last from ${schema}.event_heads h
            where h.connection = of_connection and h.business_id = of_business for update;
        end if;
        now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
        for i in 1 .. cardinality(kinds) loop
          if keys[i] is not null and exists (
            select from ${schema}.events e
              where e.connection = of_connection and e.business_id = of_business and e.key = keys[i]
          ) then
            numbers := numbers || null::bigint;
            continue;
          end if;
          last_number := last_number + 1;
          salt := gen_random_uuid();
          hashed := last || E'\n[' || to_json(of_connection) || ',' || to_json(of_business) || ',' || last_number || ','
            || now_ms || ',' || to_json(kinds[i]) || ',' || to_json(subjects[i]) || ','
            || coalesce(to_json(keys[i])::text, 'null') || ',' || to_json(workflow_ids[i]) || ',' || to_json(run_ids[i])
            || ',"' || encode(sha256(convert_to(salt || E'\n' || contents[i], 'UTF8')), 'hex') || '"]';
          insert into ${schema}.events
            (connection, business_id, number, at, kind, subject, key, workflow_id, run_id, content, salt, previous_hash, hash)
            values (of_connection, of_business, last_number, to_timestamp(now_ms / 1000.0), kinds[i], subjects[i], keys[i],
              workflow_ids[i], run_ids[i], contents[i], salt, last,
              encode(sha256(convert_to(hashed, 'UTF8')), 'hex'))
            returning hash into last;
          numbers := numbers || last_number;
        end loop;
        update ${schema}.event_heads h set count = last_number, last_hash = last
          where h.connection = of_connection and h.business_id = of_business;
        return numbers;
      end $$`,
    sql`revoke all on function append_events from public`,
    // Of place.ts. The timeline is that of the write-ahead log, which a promotion changes at once; a standby has none, and
    // some hosted servers answer nobody.
    sql`
      create function ledger_server() returns text language plpgsql stable as $$
      begin
        return (select system_identifier from pg_control_system()) || '/'
          || ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int;
      exception when object_not_in_prerequisite_state or feature_not_supported or insufficient_privilege then
        return 'unknown';
      end $$`,
    // A function of its own (place.ts): where nothing was ever lost, no claim pays for the plan of the whole question.
    sql`
      create function may_be_lost(
        of_connection text, of_business text, of_claim text, of_document text, claim_kinds text[], run text,
        since timestamptz
      ) returns boolean language plpgsql stable as $$
      declare
        lost timestamptz;
      begin
        select p.lost_until into lost from ${schema}.ledger_place p where p.lost_until is not null;
        if not found then return false; end if;
        if lost <= since and not exists (
          select from ${schema}.events e
            where e.connection = of_connection and e.business_id = of_business and e.subject = of_document
              and (e.kind = 'document-in-doubt' or (e.run_id <> run and e.at < lost))
        ) then return false; end if;
        return not exists (
          select from ${schema}.events e
            where e.connection = of_connection and e.business_id = of_business and e.subject = of_claim
              and e.at >= lost and (claim_kinds is null or e.kind = any(claim_kinds))
        );
      end $$`,
  ];
}
