import { spawn } from "node:child_process";
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Binaries } from "./find-binaries.ts";
import type { Place } from "./find-place.ts";
import { SERVER_ENVIRONMENT } from "./run-command.ts";

/** Another process has the server, or is starting it, or it is still going down. */
export const TAKEN = 75;

/**
 * The lock is held through the open file by every process of the server, and by nobody else, for exactly as long as one
 * of them lives, in containers that share the folder too. With it in hand a `postmaster.pid` is stale, whoever has its
 * number now: another process, or a dead server that nobody has reaped. PostgreSQL alone would take that for a live
 * server and refuse; only a server that somebody started there by hand is left to it. Where there is no `flock` its own
 * check has to do.
 */
const SCRIPT = `
data=$1 lock=$2
shift 2
if command -v flock > /dev/null; then
  exec 9>> "$lock"
  flock -n 9 || exit ${TAKEN}
  pid=
  [ -f "$data/postmaster.pid" ] && read -r pid < "$data/postmaster.pid"
  if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" != "$data" ]; then rm -f "$data/postmaster.pid"; fi
fi
exec "$@"
`;

const LARGEST_LOG_BYTES = 5_000_000;

export interface ServerRun {
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<{ exitCode: number | null; message: string }>;
  hasEnded(): boolean;
}

/**
 * Starts the server as a process that outlives ours. It may find that there is one already, and end with {@link TAKEN}.
 */
export function runServer(place: Place, binaries: Binaries, data: string, sockets: string): ServerRun {
  const log = join(place.base, "log");
  startNewLog(log);
  const from = sizeOf(log);
  const output = openSync(log, "a", 0o600);
  const settings = {
    listen_addresses: "",
    unix_socket_directories: `"${sockets.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
    // Claims are acknowledged, then acted upon: they must be on the disk.
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    max_connections: "200",
    shared_buffers: "32MB",
    max_wal_size: "256MB",
    timezone: "UTC",
  };
  const script = ["-c", SCRIPT, "fiscalflow-ledger-server", data, join(place.base, "lock")];
  const server = [join(binaries.folder, "postgres"), "-D", data, "-p", "5432"];
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn("/bin/sh", [...script, ...server, ...options], {
    cwd: place.base,
    env: SERVER_ENVIRONMENT,
    detached: true,
    stdio: ["ignore", output, output],
    ...place.runAs,
  });
  closeSync(output);
  child.unref();
  let done = false;
  const ended = new Promise<{ exitCode: number | null; message: string }>((resolve) => {
    const end = (exitCode: number | null, problem?: string): void => {
      done = true;
      if (problem !== undefined) resolve({ exitCode, message: problem });
      else
        void readFile(log).then(
          (bytes) => resolve({ exitCode, message: bytes.subarray(from).toString().trim().slice(-2_000) }),
          (error: unknown) => resolve({ exitCode, message: String(error) }),
        );
    };
    child.once("error", (error) => end(null, error.message));
    child.once("exit", (exitCode) => end(exitCode));
  });
  return { ended, hasEnded: () => done };
}

function startNewLog(log: string): void {
  if (sizeOf(log) > LARGEST_LOG_BYTES) renameSync(log, `${log}.1`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
