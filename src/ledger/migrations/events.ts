import { type Kysely, sql } from "kysely";

/** The events of each business, chained by hash, and beside them the head of each chain. */
export async function createEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table event_heads (
      connection text not null,
      business_id text not null,
      count bigint not null check (count >= 0),
      last_hash text not null check (last_hash ~ '^[0-9a-f]{64}$'),
      primary key (connection, business_id)
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    create table events (
      connection text not null,
      business_id text not null,
      number bigint not null check (number >= 1),
      at timestamptz not null,
      kind text not null,
      subject text not null,
      key text,
      workflow_id text not null,
      run_id text not null,
      content text not null,
      previous_hash text not null,
      hash text not null,
      primary key (connection, business_id, number)
    )`.execute(db);
  await sql`
    create unique index events_by_key on events (connection, business_id, key) where key is not null`.execute(db);
  await sql`create index events_of_subject on events (connection, business_id, subject, number)`.execute(db);
  // Against mistakes, not against the owner of the tables: what gets around it is found by the hashes.
  await sql`
    create function refuse_change_of_events() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger''s events are append-only' using errcode = '0A000';
    end $$`.execute(db);
  await sql`
    create trigger events_are_append_only before update or delete or truncate on events
    for each statement execute function refuse_change_of_events()`.execute(db);
}
