import { setTimeout as delay } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { createEmbeddedServer, type EmbeddedServer, type ServerAddress } from "../servers/postgres-server.ts";
import { judgeError, LedgerError, LedgerUnavailableError, tlsTodo } from "./errors.ts";
import { checkTables, migrate, roleOf } from "./migrate.ts";
import type { Tables } from "./tables.ts";

export type Queries = Kysely<Tables>;

type Work<Answer> = (queries: Queries) => Promise<Answer>;

interface DatabaseOptions {
  /** Of a server; without it the product's own is started. */
  readonly url?: string | undefined;
  /** The same with the login that owns the tables: then they are made, or brought to this version, at first. */
  readonly ownerUrl?: string | undefined;
  /** With the embedded server's login that owns the tables. */
  readonly asOwner?: boolean | undefined;
  readonly home: string;
  readonly onProgress?: ((line: string) => void) | undefined;
  /** For one operation, in milliseconds. Default: 3,000. */
  readonly operationTimeoutMs?: number | undefined;
  /** Looks at a connection before anything is done on it; what it throws keeps it from being used. */
  readonly verify?: ((db: Queries) => Promise<void>) | undefined;
}

/**
 * What is done on the ledger's database, which may be away and come back. Everything may throw LedgerUnavailableError
 * and LedgerError.
 */
export interface Database {
  /**
   * Runs `work` in one transaction. It may run more than once, when a connection broke: even after a commit whose
   * answer was lost, so all of it must be repeatable.
   * @param withinMs default: the time of an operation
   */
  transact<Answer>(work: Work<Answer>, withinMs?: number): Promise<Answer>;
  /**
   * Runs `statement`, a single one that commits by itself and does all that the ordinary case needs. In any other case it
   * answers undefined, and has changed nothing; then `work` runs, as in {@link transact}. Both may run more than once:
   * repeated, they must find and answer what was done the first time.
   */
  inOneStatement<Answer>(statement: Work<Answer | undefined>, work: Work<Answer>): Promise<Answer>;
  /**
   * Runs `work`, statements that stand each for itself, none of which takes longer than an operation.
   * @param withinMs how long it is tried; default: the time of an operation
   */
  query<Answer>(work: Work<Answer>, withinMs?: number): Promise<Answer>;
  /**
   * Connects, and looks whether the tables are there, in the time of an operation; where it is also to make them, or
   * the embedded server, in 30 s. On tables that it brings to this version with a server's `ownerUrl`, for up to an hour.
   */
  ready(): Promise<void>;
  /** Before anything else is done it is verified anew. */
  recheck(): void;
  close(): Promise<void>;
}

const OPERATION_MS = 3_000;
const FIRST_START_MS = 30_000;
/** Each statement of a migration: an index on a table of many years, or all of its rows rewritten. */
const MIGRATION_MS = 60 * 60_000;
const PAUSE_MS = 50;
const POOL_SIZE = 10;

export function openDatabase(options: DatabaseOptions): Database {
  const operationMs = options.operationTimeoutMs ?? OPERATION_MS;
  const embedded: EmbeddedServer | undefined = options.url === undefined ? createEmbeddedServer(options) : undefined;
  const firstMs = embedded || options.ownerUrl !== undefined ? FIRST_START_MS : operationMs;
  let pool: pg.Pool | undefined;
  let preparing: Promise<pg.Pool> | undefined;
  let areTablesReady = false;
  let verified = new WeakSet<pg.PoolClient>();
  let closed = false;

  async function prepare(): Promise<pg.Pool> {
    const { url: workersUrl = "", ownerUrl } = embedded ? await addressOf(embedded) : options;
    const url = (options.asOwner === true ? ownerUrl : undefined) ?? workersUrl;
    if (pool?.options.connectionString !== url) {
      await pool?.end();
      pool = createPool(url, operationMs);
    }
    if (!areTablesReady) {
      if (ownerUrl !== undefined) await makeTables(pool, ownerUrl);
      await onClient(pool, operationMs, (client) => checkTables(each(client)));
    }
    areTablesReady = true;
    return pool;
  }

  async function makeTables(workers: pg.Pool, ownerUrl: string): Promise<void> {
    const owner = createPool(ownerUrl, FIRST_START_MS);
    try {
      const workerRole = await onClient(workers, operationMs, (client) => roleOf(each(client)));
      const work: Work<void> = async (db) => {
        // While it waits for a table, everybody else who comes for that table waits behind it.
        await sql`set local lock_timeout = ${sql.lit(FIRST_START_MS)}`.execute(db);
        await migrate(db, workerRole);
      };
      await onClient(owner, MIGRATION_MS, (client) => inTransaction(client, work, MIGRATION_MS));
    } catch (error) {
      if (options.ownerUrl === undefined || judgeError(error) !== "unavailable") throw error;
      throw unavailable(error, ownerUrl, FIRST_START_MS, "LEDGER_OWNER_URL");
    } finally {
      await owner.end();
    }
  }

  function prepared(): Promise<pg.Pool> {
    if (preparing) return preparing;
    const current = prepare();
    preparing = current;
    // Whenever it fails, even when nobody waits for it any more, the next operation begins anew.
    current.catch(() => {
      if (preparing === current) preparing = undefined;
    });
    return current;
  }

  /** @param preparingMs how long an attempt waits until all is there; default: what is left of the time */
  async function within<Answer>(
    timeoutMs: number,
    attempt: (pool: pg.Pool, leftMs: number) => Promise<Answer>,
    preparingMs?: number,
  ): Promise<Answer> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      if (closed) throw new LedgerUnavailableError("The ledger has been closed.");
      const leftMs = deadlineMs - performance.now();
      const current = prepared();
      try {
        const ready = await inTime(current, preparingMs ?? leftMs);
        return await attempt(ready, preparingMs === undefined ? deadlineMs - performance.now() : operationMs);
      } catch (error) {
        const verdict = judgeError(error);
        if (verdict === "defect") throw asLedgerError(error);
        // A connection that failed is made anew; what goes on in the background is joined by the next operation.
        if (!(error instanceof TimeUpError) && preparing === current) preparing = undefined;
        if (verdict === "unavailable" || deadlineMs - performance.now() < PAUSE_MS)
          throw unavailable(error, options.url, timeoutMs);
        await delay(PAUSE_MS);
      }
    }
  }

  async function inTransaction<Answer>(
    client: pg.PoolClient,
    work: Work<Answer>,
    withinMs = operationMs,
  ): Promise<Answer> {
    await client.query(`begin isolation level read committed; ${limitOf(Math.max(withinMs, operationMs))}`);
    const answer = await work(queriesOver(client));
    await client.query("commit");
    return answer;
  }

  /** Each statement commits by itself. */
  const each = (client: pg.PoolClient): Queries => queriesOver(client, limitOf(operationMs));

  /** What connects anew may reach another database than before: it was restored, or a replica took over. */
  async function verify(client: pg.PoolClient): Promise<void> {
    if (!options.verify || verified.has(client)) return;
    await options.verify(each(client));
    verified.add(client);
  }

  function onConnection<Answer>(withinMs: number, work: (client: pg.PoolClient) => Promise<Answer>): Promise<Answer> {
    return within(withinMs, (ready, leftMs) =>
      onClient(ready, leftMs, async (client) => {
        await verify(client);
        return await work(client);
      }),
    );
  }

  return {
    transact: (work, withinMs = operationMs) =>
      onConnection(withinMs, (client) => inTransaction(client, work, withinMs)),
    inOneStatement: (statement, work) =>
      onConnection(
        operationMs,
        async (client) => (await statement(each(client))) ?? (await inTransaction(client, work)),
      ),
    query: (work, withinMs = operationMs) => onConnection(withinMs, (client) => work(each(client))),
    ready: () =>
      within(
        firstMs,
        (ready, leftMs) =>
          onClient(ready, leftMs, async (client) => {
            await client.query("select 1");
            await verify(client);
          }),
        options.ownerUrl === undefined ? undefined : MIGRATION_MS,
      ),
    recheck() {
      verified = new WeakSet();
    },
    async close() {
      if (closed) return;
      closed = true;
      await preparing?.catch(() => undefined);
      await pool?.end();
      await embedded?.close();
    },
  };
}

async function addressOf(embedded: EmbeddedServer): Promise<ServerAddress> {
  try {
    return await embedded.ensure();
  } catch (error) {
    throw new LedgerUnavailableError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function createPool(url: string, operationMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: operationMs,
    application_name: "fiscalflow",
    allowExitOnIdle: true,
    keepAlive: true,
    // A statement goes out together with the begin and the commit around it.
    pipeline: true,
  });
  // Without listeners a server that goes away would end our process: of the pool for idle connections, of each for
  // those in use.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/**
 * A backend that waits for a row does not see that its client has gone, and would do later what nobody waits for any
 * more. The limit is the transaction's: behind PgBouncer in transaction mode, a session's would be set on whichever
 * connection was free, for the next caller.
 */
function limitOf(ms: number): string {
  return `set local statement_timeout = ${Math.ceil(ms)}`;
}

/**
 * Queries over one given connection. kysely's own pool handling would give a broken or hanging connection back to the
 * pool; ours is released by who took it, who alone knows whether it is still good.
 * @param setting each statement is a transaction of its own, in which this statement goes first; default: the caller
 *   has begun one
 */
function queriesOver(client: pg.PoolClient, setting?: string): Queries {
  const known = setting === undefined ? inTransactions : alone;
  const made = known.get(client);
  if (made) return made;
  const plain: pg.PoolClient["query"] = client.query.bind(client);
  const query = setting === undefined ? plain : asTransaction(plain, setting);
  const pool = { connect: async () => ({ query, release: () => undefined }), end: async () => undefined };
  const queries = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  known.set(client, queries);
  return queries;
}

const inTransactions = new WeakMap<pg.PoolClient, Queries>();
const alone = new WeakMap<pg.PoolClient, Queries>();

/** Sent at once, in one round trip. What a statement changed is kept when the commit is answered, and not before. */
function asTransaction(query: pg.PoolClient["query"], setting: string): pg.PoolClient["query"] {
  const send = async (...statement: Parameters<pg.PoolClient["query"]>): Promise<unknown> => {
    const begun = query(`begin; ${setting}`);
    // Of the driver's overloads, the type of arguments that are passed on is the one with a callback.
    const answered = query(...statement) as unknown as Promise<unknown>;
    const [, answer] = await Promise.all([begun, answered, query("commit")]);
    return answer;
  };
  return send as pg.PoolClient["query"];
}

class TimeUpError extends Error {
  override readonly name = "TimeUpError";
}

/** The rest of the work goes on unseen; its failure too. */
async function inTime<Answer>(work: Promise<Answer>, leftMs: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  // Not by a signal: each one that is aborted costs an error with its stack, three times an operation.
  const timeUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeUpError("it did not answer in time")), Math.max(0, leftMs));
  });
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

/** A connection that failed, or was too slow, is never used again: nobody knows what it would answer next. */
async function onClient<Answer>(
  pool: pg.Pool,
  leftMs: number,
  work: (client: pg.PoolClient) => Promise<Answer>,
): Promise<Answer> {
  const deadlineMs = performance.now() + leftMs;
  const connecting = pool.connect();
  let client: pg.PoolClient;
  try {
    client = await inTime(connecting, leftMs);
  } catch (error) {
    connecting.then(
      (late) => late.release(),
      () => undefined,
    );
    throw error;
  }
  const working = work(client);
  try {
    const answer = await inTime(working, deadlineMs - performance.now());
    client.release();
    return answer;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function asLedgerError(error: unknown): LedgerError {
  if (error instanceof LedgerError) return error;
  return new LedgerError(`The ledger refused: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  });
}

function unavailable(
  error: unknown,
  url: string | undefined,
  timeoutMs: number,
  variable = "LEDGER_URL",
): LedgerUnavailableError {
  if (error instanceof LedgerUnavailableError) return error;
  const what = error instanceof Error ? error.message || error.name : String(error);
  const which = url === undefined ? "The ledger's own PostgreSQL" : `The ledger's PostgreSQL at ${hostOf(url)}`;
  const todo =
    url === undefined
      ? "see its log in the home's `postgres` folder"
      : (tlsTodo(error) ?? `look at the server and ${variable}`);
  return new LedgerUnavailableError(
    `${which} cannot be used (${what}; tried for up to ${timeoutMs / 1_000} s): ${todo}. The next call tries again.`,
    { cause: error },
  );
}

/** Never the password. */
function hostOf(url: string): string {
  try {
    const parsed = new URL(url);
    return `${parsed.host}${parsed.pathname}`;
  } catch {
    return "LEDGER_URL";
  }
}
