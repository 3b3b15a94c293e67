import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import pg from "pg";
import {
  postgresError,
  preparePostgres,
  runAsServer,
  SERVER_ENVIRONMENT,
  SERVER_USER,
  type ServerFiles,
} from "./postgres-files.ts";
import { codeOf, messageOf, readyWithin, ServerError } from "./run-command.ts";

export interface EmbeddedOptions {
  /** The folder of the product; the data stands in `postgres` under it. */
  readonly home: string;
  /** Called with what is going on, one line at a time. */
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** Of one database, with each of the two logins. */
export interface ServerAddress {
  /** That of the workers. */
  readonly url: string;
  /** That which owns the tables. */
  readonly ownerUrl: string;
}

/** PostgreSQL from the package, shared by the processes of a host that name the same home (docs/decisions/0005). */
export interface EmbeddedServer {
  /** Sees to it, within 30 s, that the server runs. @throws ServerError */
  ensure(): Promise<ServerAddress>;
  /** Gives the server up; the last user of the host waits until it has stopped, 12 s at most. */
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
const STOP_MS = 12_000;
const SOCKET = ".s.PGSQL.5432";
const CLOSED = "The ledger has been closed.";

/** Nothing is started before the first `ensure`. */
export function createEmbeddedServer({ home, onProgress = () => undefined }: EmbeddedOptions): EmbeddedServer {
  let prepared: Promise<Held> | undefined;
  let closed = false;

  async function prepare(): Promise<Held> {
    const files = await preparePostgres(home, onProgress);
    return { files, lease: await takeLease(files) };
  }

  async function start(held: Held): Promise<Run> {
    // Somebody may have removed the pipe: who starts a server makes it anew, and joins those who come.
    const lease = await takeLease(held.files);
    // Who has closed us meanwhile has given up the old one.
    closeSync(closed ? lease : held.lease);
    if (closed) throw new ServerError(CLOSED);
    held.lease = lease;
    onProgress("starting the ledger's database");
    return runServer(held.files);
  }

  return {
    async ensure() {
      if (closed) throw new ServerError(CLOSED);
      // Prepared once is enough; what failed is tried anew.
      prepared ??= prepare().catch((error: unknown) => {
        prepared = undefined;
        throw error;
      });
      try {
        const held = await prepared;
        return await untilItAnswers(held.files, () => start(held));
      } catch (error) {
        if (error instanceof ServerError) throw error;
        const problem = `The ledger's own PostgreSQL cannot keep its data in ${home} (${messageOf(error)})`;
        throw postgresError(problem, "make the folder writable, free space on its disk, choose another home", error);
      }
    },
    async close() {
      closed = true;
      const held = await prepared?.catch(() => undefined);
      prepared = undefined;
      if (held) await giveUp(held);
    },
  };
}

async function untilItAnswers(files: ServerFiles, start: () => Promise<Run>): Promise<ServerAddress> {
  const { base, data, password } = files;
  const urlOf = (user: string): string =>
    `postgresql://${user}:${password}@localhost/postgres?host=${encodeURIComponent(base)}`;
  const ownerUrl = urlOf(SERVER_USER);
  const log = logOf(files);
  let run: Run | undefined;
  const look = async (): Promise<void> => {
    try {
      await makeWorkerRole(ownerUrl, password);
    } catch (error) {
      // Every code of PostgreSQL itself says that there is a server: starting up, or going down.
      const isNobodyThere = ["ENOENT", "ECONNREFUSED"].includes(codeOf(error) ?? "");
      if (!isNobodyThere || (run && run.child.exitCode === null && run.child.signalCode === null)) throw error;
      if (run && run.child.exitCode !== TAKEN) {
        const said = (await readFile(log)).subarray(run.loggedBefore).toString().trim().slice(-2_000);
        if (!/lock file|shared memory block/.test(said))
          throw postgresError(`PostgreSQL did not start on ${data}; it said: ${said || "nothing"}`);
      }
      run = await start();
      throw error;
    }
  };
  await readyWithin(START_MS)(look).catch((error: unknown) => {
    if (error instanceof ServerError) throw error;
    const problem = `The ledger's own PostgreSQL in ${base} does not answer: ${messageOf(error)}`;
    throw postgresError(problem, `see its log ${log}`, error);
  });
  return { url: urlOf(WORKER_ROLE), ownerUrl };
}

/** Succeeds where the server can be used; then the workers' login is there. */
async function makeWorkerRole(url: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: START_MS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query(MAKE_WORKER_ROLE.replace("PASSWORD", pg.escapeLiteral(password)));
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Another process has the server, or is starting it, or it is still going down. */
const TAKEN = 75;

/**
 * Runs the server until it ends, or nobody has a lease any more (decision 5). With the lock in hand a `postmaster.pid` is
 * stale, unless somebody started a server there by hand. When the pipe `lease`, open as 3, ends, the server is asked for
 * a fast shutdown, again and again since a server that is only starting does not hear it, and after 10 s for an
 * immediate one.
 */
const SCRIPT = `
base=$1 data=$2
shift 2
if command -v flock > /dev/null; then
  exec 9>> "$base/lock"
  flock -n 9 || exit ${TAKEN}
  pid=
  [ -f "$data/postmaster.pid" ] && read -r pid < "$data/postmaster.pid"
  if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" != "$data" ]; then rm -f "$data/postmaster.pid"; fi
fi
"$@" 3<&- &
server=$!
(
  exec 9>&-
  cat <&3 > /dev/null || exit 0
  i=0
  while [ "$i" -lt 100 ] && kill -s INT "$server"; do sleep 0.1; i=$((i + 1)); done
  kill -s QUIT "$server"
) 2> /dev/null &
watch=$!
wait "$server"
code=$?
kill "$watch" 2> /dev/null
exit "$code"
`;

const LARGEST_LOG_BYTES = 5_000_000;

interface Run {
  readonly child: ChildProcess;
  /** How many bytes of the log are not of this run. */
  readonly loggedBefore: number;
}

function logOf({ base }: ServerFiles): string {
  return join(base, "log");
}

/**
 * Starts the server, which outlives our process. There may be one already: then it ends with {@link TAKEN}. We must hold
 * a lease, since the opening of the pipe waits for a writer.
 */
function runServer(files: ServerFiles): Run {
  const { base, runAs, data, bin } = files;
  const log = logOf(files);
  const logged = statSync(log, { throwIfNoEntry: false });
  if (logged && logged.size > LARGEST_LOG_BYTES) renameSync(log, `${log}.1`);
  const lease = openSync(leaseOf(files), constants.O_RDONLY);
  const output = openSync(log, "a", 0o600);
  const loggedBefore = fstatSync(output).size;
  const settings = [
    "listen_addresses=",
    `unix_socket_directories="${base.replaceAll('"', '""')}"`,
    "unix_socket_permissions=0700",
    // Claims are acknowledged, then acted upon: they must be on the disk.
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "max_connections=200",
    "shared_buffers=32MB",
    "max_wal_size=256MB",
  ];
  const server = [join(bin, "postgres"), "-D", data, "-p", "5432", ...settings.flatMap((one) => ["-c", one])];
  const child = spawn("/bin/sh", ["-c", SCRIPT, "fiscalflow-ledger-server", base, data, ...server], {
    cwd: base,
    env: SERVER_ENVIRONMENT,
    detached: true,
    stdio: ["ignore", output, output, lease],
    ...runAs,
  });
  for (const ours of [output, lease]) closeSync(ours);
  child.on("error", () => undefined);
  child.unref();
  return { child, loggedBefore };
}

interface Held {
  readonly files: ServerFiles;
  /** A file descriptor. */
  lease: number;
}

function leaseOf({ base }: ServerFiles): string {
  return join(base, "lease");
}

/**
 * The right to find the server running: as long as one process of the host holds a lease, nobody stops it. The kernel
 * gives it up however a process ends.
 * @returns a file descriptor @throws ServerError
 */
async function takeLease(files: ServerFiles): Promise<number> {
  const pipe = leaseOf(files);
  const made = await runAsServer("mkfifo", ["-m", "600", pipe], files).catch(messageOf);
  try {
    // For reading and writing, since for writing alone it would wait for a reader.
    return openSync(pipe, constants.O_RDWR);
  } catch (error) {
    const problem = `The processes that share the ledger's PostgreSQL meet at ${pipe}, which cannot be used`;
    throw postgresError(`${problem} (${messageOf(error)}; ${made})`, "", error);
  }
}

async function giveUp({ files, lease }: Held): Promise<void> {
  let reader: number;
  try {
    reader = openSync(leaseOf(files), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // Somebody has removed it: whether we are the last cannot be told.
    return closeSync(lease);
  }
  try {
    closeSync(lease);
    readSync(reader, Buffer.alloc(1));
  } catch {
    // EAGAIN: empty, but somebody could still write.
    return;
  } finally {
    closeSync(reader);
  }
  const isGone = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(join(files.base, SOCKET), () => reject(new Error("it answers")));
      socket.once("error", () => resolve());
      socket.once("connect", () => socket.destroy());
    });
  await readyWithin(STOP_MS)(isGone).catch(() => undefined);
}
