import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, chown, mkdir, rm } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { withOutsideClient } from "../../../src/ledger/test-support/outside-client.ts";
import { freePort } from "../../../src/servers/start-dev-server.ts";

/** Debian's folder of the newest PostgreSQL with all its tools; undefined where there is none. */
export const POSTGRES_TOOLS = debianFolder();

function debianFolder(): string | undefined {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).toSorted((a, b) => Number(b) - Number(a));
  // Of some versions there are the clients alone.
  return versions.map((version) => `${root}/${version}/bin`).find((folder) => existsSync(`${folder}/initdb`));
}

/** How a backup is made and restored: PostgreSQL's own ways, as docs/database.md names them. */
export type BackupKind = "dump" | "archive" | "files";

const START_MS = 30_000;
const LOOK_MS = 50;
const SUPERUSER = "postgres";
const run = promisify(execFile);

/** PostgreSQL does not run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync("id", [flag, SUPERUSER], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** A PostgreSQL server as an administrator has one, which can be backed up and restored. */
export class BackedUpServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #user = serverUser();
  #process: ChildProcess | undefined;
  #backupAt = "";

  /** @param folder which is this server's alone, and may be entered by anybody */
  static async start(folder: string): Promise<BackedUpServer> {
    await mkdir(join(folder, "archive"), { recursive: true });
    const server = new BackedUpServer(folder, await freePort());
    for (const made of [folder, join(folder, "archive")]) {
      await chmod(made, 0o755);
      if (server.#user) await chown(made, server.#user.uid, server.#user.gid);
    }
    await server.#tool("initdb", "-D", server.#data, "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--locale=C");
    await server.#serve();
    await withOutsideClient(server.#address(SUPERUSER, "postgres"), async (client) => {
      await client.query("create role ledger_owner login");
      await client.query("create role ledger login");
      await client.query("create database ledger owner ledger_owner");
    });
    return server;
  }

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** With the workers' login. */
  get url(): string {
    return this.#address("ledger", "ledger");
  }

  get ownerUrl(): string {
    return this.#address("ledger_owner", "ledger");
  }

  /** Of what is written while it is made, it has what was committed at its beginning, at least. */
  async backUp(kind: BackupKind): Promise<void> {
    const backup = join(this.#folder, "backup");
    if (kind === "dump")
      await this.#tool(
        "pg_dump",
        "--format=custom",
        `--file=${backup}`,
        `--dbname=${this.#address(SUPERUSER, "ledger")}`,
      );
    else if (kind === "archive") {
      await this.#tool(
        "pg_basebackup",
        "-D",
        backup,
        "--checkpoint=fast",
        "-h",
        "127.0.0.1",
        "-p",
        String(this.#port),
        "-U",
        SUPERUSER,
      );
      const { rows } = await withOutsideClient(this.#address(SUPERUSER, "postgres"), (client) =>
        client.query<{ now: string }>("select now()::text as now"),
      );
      this.#backupAt = rows[0]?.now ?? "";
    } else {
      await this.stop();
      await this.#tool("/bin/cp", "-a", this.#data, backup);
      await this.#serve();
    }
  }

  /** Everything that came after the backup is lost. */
  async restore(kind: BackupKind): Promise<void> {
    const backup = join(this.#folder, "backup");
    if (kind === "dump") {
      const address = this.#address(SUPERUSER, "postgres");
      await withOutsideClient(address, async (client) => {
        await client.query("drop database ledger with (force)");
        await client.query("create database ledger owner ledger_owner");
      });
      await this.#tool("pg_restore", `--dbname=${this.#address(SUPERUSER, "ledger")}`, backup);
      return;
    }
    if (kind === "archive") {
      // The last segment is not full yet.
      await withOutsideClient(this.#address(SUPERUSER, "postgres"), (client) => client.query("select pg_switch_wal()"));
    }
    await this.stop();
    await rm(this.#data, { recursive: true });
    await this.#tool("/bin/cp", "-a", backup, this.#data);
    if (kind === "archive") {
      const settings = [
        `restore_command = 'cp ${join(this.#folder, "archive")}/%f %p'`,
        `recovery_target_time = '${this.#backupAt}'`,
        "recovery_target_action = 'promote'",
      ];
      await appendFile(join(this.#data, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
      await this.#tool("/usr/bin/touch", join(this.#data, "recovery.signal"));
    }
    await this.#serve();
  }

  async stop(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined || process.exitCode !== null) return;
    const ended = once(process, "exit");
    // Fast: all connections are cut off.
    process.kill("SIGINT");
    await ended;
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  #address(user: string, database: string): string {
    return `postgres://${user}@127.0.0.1:${this.#port}/${database}`;
  }

  async #tool(name: string, ...argv: string[]): Promise<void> {
    await run(name.startsWith("/") ? name : join(POSTGRES_TOOLS ?? "", name), argv, {
      cwd: this.#folder,
      ...this.#user,
    });
  }

  async #serve(): Promise<void> {
    const settings = [
      "listen_addresses=127.0.0.1",
      `port=${this.#port}`,
      `unix_socket_directories=${this.#folder}`,
      "archive_mode=on",
      `archive_command=cp %p ${join(this.#folder, "archive")}/%f`,
      "fsync=off",
    ];
    this.#process = spawn(
      join(POSTGRES_TOOLS ?? "", "postgres"),
      ["-D", this.#data, ...settings.flatMap((setting) => ["-c", setting])],
      { cwd: this.#folder, stdio: "ignore", ...this.#user },
    );
    const deadlineMs = performance.now() + START_MS;
    let why: unknown = "it is still in recovery";
    while (performance.now() < deadlineMs) {
      try {
        const address = this.#address(SUPERUSER, "postgres");
        const { rows } = await withOutsideClient(address, (client) =>
          client.query<{ ready: boolean }>("select not pg_is_in_recovery() as ready"),
        );
        if (rows[0]?.ready) return;
      } catch (error) {
        why = error;
      }
      await delay(LOOK_MS);
    }
    await this.stop();
    throw new Error(`PostgreSQL does not serve: ${String(why)}`);
  }
}
