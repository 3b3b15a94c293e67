import { type Kysely, type RawBuilder, sql } from "kysely";

/** The claim of a call that is sent at most once, which its row is. @param done the state of one that was carried out */
function claimColumns(done: string): RawBuilder<unknown> {
  const states = sql.join(["held", "buried", done, `not-${done}`].map((state) => sql.lit(state)));
  return sql`
      generation integer not null check (generation >= 1),
      token text,
      taken_by text[] not null default '{}',
      execution text,
      under_way_until timestamptz,
      state text not null check (state in (${states})),
      taken_at timestamptz not null,
      outcome jsonb,
      decision jsonb,
      disputed boolean not null default false,
      workflow_id text not null,
      run_id text not null,
      check (state <> 'held' or (token is not null and execution is not null))`;
}

/** A row for each stock movement. It is made when the movement is first taken to be sent, or closed unsent. */
export async function createMovements(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence movement_order`.execute(db);
  await sql`
    create table movements (
      connection text not null,
      business_id text not null,
      reference_id text not null,
      type text check (type in ('sale', 'credit_note')),
      number text,
      purpose text check (purpose in ('sold', 'undone', 'restocked')),
      undoes text,
      item_id text,
      action text check (action in ('ADD', 'DEDUCT')),
      quantity numeric,
      unit_price numeric,
      branch text,
      ${claimColumns("applied")},
      taken_order bigint not null default nextval('movement_order'),
      settled_order bigint,
      branch_id text generated always as (outcome ->> 'branchId') stored,
      quantity_on_hand numeric generated always as ((outcome ->> 'quantityOnHand')::numeric) stored,
      primary key (connection, business_id, reference_id),
      check (state <> 'held' or item_id is not null)
    )`.execute(db);
  await sql`
    create index movements_of_item on movements (connection, business_id, item_id, taken_order)
    where item_id is not null`.execute(db);
  await sql`
    create index movements_of_document on movements (connection, business_id, type, number)
    where number is not null`.execute(db);
  await sql`
    create index movements_that_undo on movements (connection, business_id, undoes) where undoes is not null`.execute(
    db,
  );
}

/** A row for each sync batch, in the same way. */
export async function createSyncBatches(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sync_batches (
      connection text not null,
      sync_batch_id text not null,
      ${claimColumns("processed")},
      primary key (connection, sync_batch_id)
    )`.execute(db);
}
