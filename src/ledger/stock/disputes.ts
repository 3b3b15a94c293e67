import { type RawBuilder, sql } from "kysely";

import type { MovementOutcome } from "../../contract/index.ts";
import type { Queries } from "../database.ts";
import type { Decision, Dispute, MovementKey } from "./claims.ts";
import { businessColumns } from "../events/row.ts";
import { storableText } from "../storable-text.ts";
import { MOVEMENTS } from "./movement.ts";

const MOST = 100;

export function disputes(db: Queries, days: number): Promise<Dispute[]> {
  return read(db, sql`e.at > clock_timestamp() - ${days} * interval '1 day'`);
}

export async function disputeOf(db: Queries, key: MovementKey): Promise<Dispute | undefined> {
  const { connection, business_id } = businessColumns(key);
  const reference = storableText(key.referenceId);
  const where = sql`(c.connection, c.business_id, c.reference_id) = (${connection}, ${business_id}, ${reference})`;
  return (await read(db, where))[0];
}

async function read(db: Queries, where: RawBuilder<unknown>): Promise<Dispute[]> {
  const { rows } = await sql<{
    connection: string;
    business_id: string;
    reference_id: string;
    at: Date;
    state: Dispute["state"];
    decision: Decision | null;
    outcome: MovementOutcome;
  }>`
    select c.connection, c.business_id, c.reference_id, e.at, c.state, c.decision, e.content::json -> 'detail' as outcome
    from movements as c join lateral (
      select at, content from events as e
      where (e.connection, e.business_id, e.subject) = (c.connection, c.business_id, ${`${MOVEMENTS.noun} `} || c.reference_id)
        and e.kind = ${`${MOVEMENTS.kind}contradicted`}
      order by e.number desc limit 1) as e on true
    where c.disputed and ${where}
    order by e.at desc limit ${MOST}`.execute(db);
  return rows.map(({ connection, business_id, reference_id, at, state, decision, outcome }) => ({
    connection,
    businessId: business_id,
    referenceId: reference_id,
    atMs: at.getTime(),
    state,
    decision: decision ?? undefined,
    outcome,
  }));
}
