import { type RawBuilder, sql } from "kysely";

import type { Queries } from "../database.ts";
import { storableText } from "../storable-text.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { Business, NewEvent } from "./chain.ts";
import { businessColumns } from "./row.ts";

/**
 * Appends to a business's chain, in the transaction of whatever the events tell of: both are kept, or neither.
 * Transactions that append to one chain follow each other, since each holds the chain's head until it ends; so append
 * last.
 * @returns the numbers of the events, in their order; undefined for one whose key the chain has already
 * @throws LedgerError where a content is no JSON
 */
export async function appendEvents(
  db: Queries,
  business: Business,
  events: readonly NewEvent[],
): Promise<(number | undefined)[]> {
  if (events.length === 0) return [];
  const { rows } = await sql<{ numbers: (string | null)[] }>`select ${appended(business, events)} as numbers`.execute(
    db,
  );
  return (rows[0]?.numbers ?? []).map((number) => (number === null ? undefined : Number(number)));
}

/**
 * The call that does so, for a statement that writes more: an array of the numbers, `null` for undefined. It is the only
 * way to the events: the database's function takes the head, numbers and chains (migrate.ts).
 */
export function appended(business: Business, events: readonly NewEvent[]): RawBuilder<(string | null)[]> {
  const { connection, business_id } = businessColumns(business);
  const column = (of: (event: NewEvent) => string | null) => sql`${events.map(of)}::text[]`;
  return sql`append_events(${connection}, ${business_id}, ${sql.join([
    column(({ kind }) => storableText(kind)),
    column(({ subject }) => storableText(subject)),
    column(({ key }) => (key === undefined ? null : storableText(key))),
    column(({ writer }) => storableText(writer.workflowId)),
    column(({ writer }) => storableText(writer.runId)),
    column(({ content }) => canonicalJson(content)),
  ])})`;
}
