import { type Kysely, sql } from "kysely";

import { schemaOf } from "./schema.ts";

/**
 * The events of each business, chained by hash, and beside them the head of each chain. One function writes them, with
 * the rights of the tables' owner: whoever may call it can append, and no more than that.
 */
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
      salt text not null,
      previous_hash text not null,
      hash text not null,
      primary key (connection, business_id, number)
    )`.execute(db);
  await sql`
    create unique index events_by_key on events (connection, business_id, key) where key is not null`.execute(db);
  await sql`create index events_of_subject on events (connection, business_id, subject, number)`.execute(db);
  await sql`create index contradicted_documents on events (at) where kind = 'document-contradicted'`.execute(db);
  // Against mistakes, not against the owner of the tables: what gets around it is found by the hashes.
  await sql`
    create function refuse_change_of_events() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger''s events are append-only' using errcode = '0A000';
    end $$`.execute(db);
  await sql`
    create trigger events_are_append_only before update or delete or truncate on events
    for each statement execute function refuse_change_of_events()`.execute(db);
  await createAppendEvents(db);
}

/**
 * Names are qualified, and the search path has nothing of the caller's: a temporary table named `events` changes nothing.
 * One lock an event chain, taken before anything is numbered, so that numbers have no gaps and times never go back.
 */
async function createAppendEvents(db: Kysely<unknown>): Promise<void> {
  const schema = await schemaOf(db);
  await sql`
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
    end $$`.execute(db);
  await sql`revoke all on function append_events from public`.execute(db);
}
