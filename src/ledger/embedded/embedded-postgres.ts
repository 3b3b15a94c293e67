import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { LedgerUnavailableError } from "../errors.ts";
import { codeOf, commandTrouble, fileTrouble } from "./file-trouble.ts";
import { type Binaries, findBinaries } from "./find-binaries.ts";
import { findPlace, type Place } from "./find-place.ts";
import { type Lease, takeLease } from "./lease.ts";
import { type Cluster, makeCluster, SERVER_USER } from "./make-cluster.ts";
import { runServer, type ServerRun, TAKEN } from "./run-server.ts";
import { socketFolder } from "./socket-folder.ts";

export interface EmbeddedOptions {
  /** The folder of the product; the data stands in `postgres` under it. */
  readonly home: string;
  /** Called with what is going on, one line at a time. */
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** Of one database, with each of the two logins. */
export interface ServerAddress {
  /** That of the workers. */
  url: string;
  /** That which owns the tables. */
  ownerUrl: string;
}

/** PostgreSQL from the package, shared by the processes of a host that name the same home (docs/decisions/0005). */
export interface EmbeddedServer {
  /** Sees to it that the server runs. @throws LedgerUnavailableError */
  ensure(timeoutMs: number): Promise<ServerAddress>;
  /** Gives the server up; the last user of the host waits until it has stopped. */
  close(): Promise<void>;
}

export const WORKER_ROLE = "fiscalflow_worker";
/**
 * It guards against mistakes and injected statements: who can read the password's file is the owner too. Of several
 * processes at once one makes it.
 */
const MAKE_WORKER_ROLE = `
  do $$ begin
    if to_regrole('${WORKER_ROLE}') is null then create role ${WORKER_ROLE} login password PASSWORD; end if;
  exception when duplicate_object or unique_violation then null;
  end $$`;

const START_MS = 30_000;
const PAUSE_MS = 30;

/** The server of a home, for as long as this process wants it. @throws LedgerUnavailableError */
export async function startEmbeddedPostgres(
  options: EmbeddedOptions,
): Promise<ServerAddress & { close(): Promise<void> }> {
  const server = createEmbeddedServer(options);
  try {
    return { ...(await server.ensure(START_MS)), close: () => server.close() };
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface Prepared {
  readonly place: Place;
  readonly binaries: Binaries;
  readonly cluster: Cluster;
  readonly lease: Lease;
}

/** Nothing is started before the first `ensure`. */
export function createEmbeddedServer({ home, onProgress = () => undefined }: EmbeddedOptions): EmbeddedServer {
  let prepared: Promise<Prepared> | undefined;
  let closed = false;

  async function prepare(): Promise<Prepared> {
    const place = await findPlace(home);
    const binaries = await findBinaries(place, onProgress);
    const cluster = await makeCluster(place, binaries, onProgress);
    return { place, binaries, cluster, lease: await takeLease(place, cluster.data) };
  }

  return {
    async ensure(timeoutMs) {
      if (closed) throw new LedgerUnavailableError("The ledger has been closed.");
      prepared ??= prepare();
      const attempt = prepared;
      try {
        return await untilItAnswers(await attempt, timeoutMs, onProgress);
      } catch (error) {
        // Prepared once is enough; what failed is tried anew.
        attempt.catch(() => {
          if (prepared === attempt) prepared = undefined;
        });
        throw error instanceof LedgerUnavailableError ? error : fileTrouble(home, error);
      }
    },
    async close() {
      closed = true;
      await prepared?.then(
        ({ lease }) => lease.close(),
        () => undefined,
      );
    },
  };
}

async function untilItAnswers(
  { place, binaries, cluster }: Prepared,
  timeoutMs: number,
  onProgress: (line: string) => void,
): Promise<ServerAddress> {
  const deadlineMs = performance.now() + timeoutMs;
  let run: ServerRun | undefined;
  for (;;) {
    const sockets = await socketFolder(place);
    const urlOf = (user: string): string =>
      `postgresql://${user}:${cluster.password}@localhost/postgres?host=${encodeURIComponent(sockets)}`;
    const ownerUrl = urlOf(SERVER_USER);
    const problem = await problemAt(ownerUrl, cluster.password, deadlineMs - performance.now());
    if (problem === undefined) return { url: urlOf(WORKER_ROLE), ownerUrl };
    // Every code of PostgreSQL itself says that there is a server: starting up, or going down.
    const nobody = ["ENOENT", "ECONNREFUSED"].includes(problem.code);
    if (nobody && (run === undefined || run.hasEnded())) {
      const end = await run?.ended;
      if (end && end.exitCode !== TAKEN && !/lock file|shared memory block/.test(end.message))
        throw commandTrouble(`PostgreSQL did not start on ${cluster.data}.`, end.message);
      onProgress("starting the ledger's database");
      run = runServer(place, binaries, cluster.data, sockets);
    }
    if (performance.now() > deadlineMs)
      throw new LedgerUnavailableError(
        `The ledger's own PostgreSQL in ${place.base} did not answer within ${timeoutMs / 1_000} s (${problem.message}). ` +
          `Its log is ${place.base}/log.`,
      );
    await delay(PAUSE_MS);
  }
}

/** Why the server cannot be used. Where it can, the workers' login is there. */
async function problemAt(
  url: string,
  password: string,
  timeoutMs: number,
): Promise<{ code: string; message: string } | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: Math.max(100, timeoutMs) });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(MAKE_WORKER_ROLE.replace("PASSWORD", pg.escapeLiteral(password)));
    return undefined;
  } catch (error) {
    return { code: codeOf(error) ?? "", message: error instanceof Error ? error.message : String(error) };
  } finally {
    client.end().catch(() => undefined);
  }
}
