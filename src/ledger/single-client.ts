import { Kysely, PostgresDialect } from "kysely";
import type { PoolClient } from "pg";
import type { Tables } from "./tables.ts";

const known = new WeakMap<PoolClient, Kysely<Tables>>();

/**
 * Queries over one given connection. kysely's own pool handling would give a broken or hanging connection back to the
 * pool; ours is released by who took it, who alone knows whether it is still good.
 */
export function queriesOver(client: PoolClient): Kysely<Tables> {
  const made = known.get(client);
  if (made) return made;
  const query: PoolClient["query"] = client.query.bind(client);
  const pool = { connect: async () => ({ query, release: () => undefined }), end: async () => undefined };
  const queries = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  known.set(client, queries);
  return queries;
}
