import { Kysely, PostgresAdapter, PostgresDialect } from "kysely";
import type { PoolClient } from "pg";
import type { Tables } from "./tables.ts";

/**
 * The migrator's own lock is the session's. Behind PgBouncer in transaction mode it would stay with a connection of the
 * pool, and no process could migrate any more; `migrate` takes one of its transaction.
 */
class WithoutSessionLocks extends PostgresAdapter {
  override acquireMigrationLock = async (): Promise<void> => undefined;
  override releaseMigrationLock = async (): Promise<void> => undefined;
}

class Dialect extends PostgresDialect {
  override createAdapter = (): PostgresAdapter => new WithoutSessionLocks();
}

/**
 * Queries over one given connection. kysely's own pool handling would give a broken or hanging connection back to the
 * pool; ours is released by who took it, who alone knows whether it is still good.
 * @param setting each statement is a transaction of its own, in which this statement goes first; default: the caller
 *   has begun one
 */
export function queriesOver(client: PoolClient, setting?: string): Kysely<Tables> {
  const known = setting === undefined ? inTransaction : alone;
  const made = known.get(client);
  if (made) return made;
  const plain: PoolClient["query"] = client.query.bind(client);
  const query = setting === undefined ? plain : asTransaction(plain, setting);
  const pool = { connect: async () => ({ query, release: () => undefined }), end: async () => undefined };
  const queries = new Kysely<Tables>({ dialect: new Dialect({ pool }) });
  known.set(client, queries);
  return queries;
}

const inTransaction = new WeakMap<PoolClient, Kysely<Tables>>();
const alone = new WeakMap<PoolClient, Kysely<Tables>>();

/** Sent at once, in one round trip. What a statement changed is kept when the commit is answered, and not before. */
function asTransaction(query: PoolClient["query"], setting: string): PoolClient["query"] {
  const send = async (...statement: Parameters<PoolClient["query"]>): Promise<unknown> => {
    const begun = query(`begin; ${setting}`);
    // Of the driver's overloads, the type of arguments that are passed on is the one with a callback.
    const answered = query(...statement) as unknown as Promise<unknown>;
    const [, answer] = await Promise.all([begun, answered, query("commit")]);
    return answer;
  };
  return send as PoolClient["query"];
}
