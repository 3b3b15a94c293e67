import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

import { type Ledger, openLedger } from "./index.ts";
import { createTestLedger, type TestLedger } from "./test-support/create-test-ledger.ts";
import { APPLIED, firstTry } from "./test-support/movements.ts";
import { withOutsideClient } from "./test-support/outside-client.ts";
import { PGBOUNCER, type Pool, startPgbouncer } from "./test-support/pgbouncer.ts";
import { type WatchedLine, watchLine } from "./test-support/watched-line.ts";

const OPERATION_MS = 2_000;

// With CI set, it has to be there.
describe.skipIf(PGBOUNCER === undefined && !process.env["CI"])(
  "a ledger behind PgBouncer in transaction mode (skipped without `pgbouncer`)",
  () => {
    let direct: TestLedger;
    let line: WatchedLine;
    let pool: Pool<"ledger" | "owned">;
    let url: string;
    beforeAll(async () => {
      direct = await createTestLedger();
      line = await watchLine(direct.url);
      const owned = Object.assign(new URL(line.url), { username: new URL(direct.ownerUrl).username }).href;
      pool = await startPgbouncer({ ledger: line.url, owned }, { connections: 4 });
      url = pool.urls.ledger;
    });
    afterAll(async () => {
      await pool?.close();
      await line?.close();
      await direct?.drop();
    });

    function open(more: { ownerUrl?: string; operationTimeoutMs?: number } = {}): Ledger {
      const ledger = openLedger({ url, home: "/nowhere", operationTimeoutMs: OPERATION_MS, ...more });
      onTestFinished(() => ledger.close());
      return ledger;
    }

    /** As another user of the pool sees it. */
    async function shown(statement: string): Promise<string[]> {
      const { rows } = await withOutsideClient(url, (client) => client.query(statement));
      return rows.map((row) => String(Object.values(row)[0]));
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
        const ledger = open({ ownerUrl: pool.urls.owned });
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
      const ledger = open({ operationTimeoutMs: 20_000 });
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
