import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

import { freePort } from "../embedded/free-port.ts";
import { type Ledger, openLedger } from "./index.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";
import { APPLIED, firstTry } from "./test-support/movements.ts";
import { openOutsideClient } from "./test-support/outside-client.ts";
import { type WatchedLine, watchLine } from "./test-support/watched-line.ts";

/** Debian's own folder for it is not on everybody's path. */
const PGBOUNCER = ["pgbouncer", "/usr/sbin/pgbouncer"].find((path) => spawnSync(path, ["--version"]).status === 0);
/** PgBouncer runs as anybody but root. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const OPERATION_MS = 2_000;

// With CI set, it has to be there.
describe.skipIf(PGBOUNCER === undefined && !process.env["CI"])(
  "a ledger behind PgBouncer in transaction mode (skipped without `pgbouncer`)",
  () => {
    let folder: string;
    let direct: TestLedger;
    let line: WatchedLine;
    let url: string;
    let ownerUrl: string;
    let stop: () => Promise<void>;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "fiscalflow-pgbouncer-"));
      await chmod(folder, 0o755);
      direct = await createTestLedger();
      line = await watchLine(direct.url);
      const to = new URL(line.url);
      const port = await freePort();
      const server = `host=127.0.0.1 port=${to.port} dbname=${to.pathname.slice(1)} password=${to.password}`;
      const settings = [
        "[databases]",
        `ledger = ${server} user=${to.username}`,
        `owned = ${server} user=${new URL(direct.ownerUrl).username}`,
        "[pgbouncer]",
        `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
        "pool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 200",
      ];
      await writeFile(join(folder, "pgbouncer.ini"), `${settings.join("\n")}\n`);
      const pgbouncer = spawn(PGBOUNCER ?? "pgbouncer", ["-q", join(folder, "pgbouncer.ini")], {
        stdio: "ignore",
        ...(process.getuid?.() === 0 && NOBODY),
      });
      const ended = once(pgbouncer, "exit");
      stop = async () => {
        pgbouncer.kill("SIGKILL");
        await ended;
      };
      url = `postgres://anybody@127.0.0.1:${port}/ledger`;
      ownerUrl = `postgres://anybody@127.0.0.1:${port}/owned`;
      await vi.waitFor(() => shown("select 1"), { timeout: 10_000 });
    });
    afterAll(async () => {
      await stop?.();
      await line?.close();
      await direct?.drop();
      await rm(folder, { recursive: true, force: true });
    });

    function open(more: { ownerUrl?: string } = {}): Ledger {
      const ledger = openLedger({ url, home: "/nowhere", operationTimeoutMs: OPERATION_MS, ...more });
      onTestFinished(() => ledger.close());
      return ledger;
    }

    /** As another user of the pool sees it. */
    async function shown(statement: string): Promise<string[]> {
      const client = openOutsideClient(url);
      try {
        const { rows } = await client.query(statement);
        return rows.map((row) => String(Object.values(row)[0]));
      } finally {
        await client.end();
      }
    }

    test("is migrated by many processes at once, and no lock stays behind", async () => {
      for (const statement of ["drop schema public cascade", "create schema public"])
        await direct.outside.query(statement);
      // Others take turns on the pool's connections meanwhile, so that two statements seldom go over the same one.
      let isMigrating = true;
      const others = Array.from({ length: 6 }, async () => {
        while (isMigrating) await shown("select pg_sleep(0.02)");
      });
      const migrated = Array.from({ length: 8 }, () => {
        const ledger = open({ ownerUrl });
        return vi.waitFor(() => ledger.ready(), { timeout: 30_000 });
      });
      await Promise.all(migrated).finally(() => (isMigrating = false));
      await Promise.all(others);
      const { rows } = await direct.outside.query(
        "select count(*)::int as left from pg_locks where locktype = 'advisory'",
      );
      expect(rows).toEqual([{ left: 0 }]);
      // One of a session may find its own connection again, by luck.
      expect(line.statements.filter((statement) => /\bpg_advisory_(un)?lock\(/.test(statement))).toEqual([]);
    });

    test("keeps each claim once, and leaves no setting on the connections of the pool", async () => {
      const ledger = open();
      const movements = Array.from({ length: 40 }, firstTry);
      const takes = await Promise.all(movements.flatMap((one) => [ledger.stock.take(one), ledger.stock.take(one)]));
      expect(takes.filter(({ kind }) => kind === "taken")).toHaveLength(80);
      expect((await direct.outside.query("select 1 from movements")).rowCount).toBe(40);
      await Promise.all(movements.map((one) => ledger.stock.settle({ ...one, outcome: APPLIED })));
      // One transaction each, so that every connection of the pool is asked.
      const seen = Array.from({ length: 4 }, () =>
        shown("select current_setting('statement_timeout') from pg_sleep(0.3)"),
      );
      expect((await Promise.all(seen)).flat()).toEqual(["0", "0", "0", "0"]);
    });

    test("ends each statement that nobody waits for any more, on whichever connection it waits", async () => {
      const ledger = open();
      const movements = Array.from({ length: 3 }, firstTry);
      for (const one of movements) await ledger.stock.take(one);
      const { outside } = direct;
      await outside.query("begin");
      await outside.query("select * from movements for update");
      try {
        const settled = movements.map((one) => ledger.stock.settle({ ...one, outcome: APPLIED }));
        for (const one of await Promise.allSettled(settled)) expect(one.status).toBe("rejected");
        const waiting = "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'";
        await expect.poll(async () => (await outside.query(waiting)).rows, { timeout: 10_000 }).toEqual([{ n: 0 }]);
      } finally {
        await outside.query("rollback");
      }
      const answers = await Promise.all(movements.map((one) => ledger.stock.read(one)));
      expect(answers.map(({ kind }) => kind)).toEqual(["unknown", "unknown", "unknown"]);
    });
  },
);
