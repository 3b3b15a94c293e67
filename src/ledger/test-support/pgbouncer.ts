import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { freePort } from "../../servers/start-dev-server.ts";
import { openOutsideClient } from "./outside-client.ts";

/** Debian's own folder for it is not on everybody's path. Undefined where there is none. */
export const PGBOUNCER = ["pgbouncer", "/usr/sbin/pgbouncer"].find(
  (path) => spawnSync(path, ["--version"]).status === 0,
);

/** PgBouncer runs as anybody but root: where its server has a socket, as a user who may use that. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const START_MS = 10_000;
const LOOK_MS = 50;

/** PgBouncer in transaction mode, which asks nobody for a password. */
export interface Pool<Name extends string> {
  /** By the pool, for the address of its database. */
  readonly urls: Readonly<Record<Name, string>>;
  close(): Promise<void>;
}

/** @param databases by the name under which the pool offers them: the address to which it connects */
export async function startPgbouncer<Name extends string>(
  databases: Readonly<Record<Name, string>>,
  { connections }: { connections: number },
): Promise<Pool<Name>> {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-pgbouncer-"));
  await chmod(folder, 0o755);
  const port = await freePort();
  const named = Object.entries<string>(databases);
  const settings = [
    "[databases]",
    ...named.map(([name, url]) => `${name} = ${serverOf(url)}`),
    "[pgbouncer]",
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
    `pool_mode = transaction\ndefault_pool_size = ${connections}\nmax_client_conn = 200`,
  ];
  await writeFile(join(folder, "pgbouncer.ini"), `${settings.join("\n")}\n`);
  const [socket] = named.flatMap(([, url]) => new URL(url).searchParams.get("host") ?? []);
  const runAs = socket === undefined ? NOBODY : await stat(socket);
  const pgbouncer = spawn(PGBOUNCER ?? "pgbouncer", ["-q", join(folder, "pgbouncer.ini")], {
    stdio: "ignore",
    ...(process.getuid?.() === 0 && { uid: runAs.uid, gid: runAs.gid }),
  });
  const ended = once(pgbouncer, "exit");
  const urls = Object.fromEntries(named.map(([name]) => [name, `postgres://anybody@127.0.0.1:${port}/${name}`]));
  for (const url of Object.values(urls)) await untilItAnswers(url);
  return {
    urls: urls as Record<Name, string>,
    async close() {
      pgbouncer.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function serverOf(url: string): string {
  const { hostname, port, pathname, username, password, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  return `host=${host} port=${port || 5432} dbname=${pathname.slice(1)} user=${username} password=${password}`;
}

async function untilItAnswers(url: string): Promise<void> {
  const deadlineMs = performance.now() + START_MS;
  for (;;) {
    const client = openOutsideClient(url);
    try {
      await client.query("select 1");
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await delay(LOOK_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
