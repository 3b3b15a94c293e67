import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { startEmbeddedPostgres } from "../servers/test-support/start-embedded-postgres.ts";
import { type Ledger, openLedger } from "./index.ts";
import { makeHome } from "./test-support/home-of-run.ts";
import { APPLIED, firstTry } from "./test-support/movements.ts";
import { openOutsideClient, type OutsideClient } from "./test-support/outside-client.ts";
import { businessWithPurchases, purchaseOf } from "./test-support/purchases.ts";

const SCRIPT = resolve(import.meta.dirname, "../../deploy/postgres/databases.sql");
const SET_UP_FIRST = /has no tables of fiscalflow yet: run `fiscalflow setup` with LEDGER_OWNER_URL/;
const PASSWORD = "it's a secret";
const OWNER_PASSWORD = "it's another";
const TEMPORAL_PASSWORD = "it's Temporal's";

/** The script's statements, with the passwords that psql would take from files. */
function statements(): string[] {
  return readFileSync(SCRIPT, "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("--") && !line.startsWith("\\"))
    .join("\n")
    .replace(":'ledger_password'", () => pg.escapeLiteral(PASSWORD))
    .replace(":'ledger_owner_password'", () => pg.escapeLiteral(OWNER_PASSWORD))
    .replace(":'temporal_password'", () => pg.escapeLiteral(TEMPORAL_PASSWORD))
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

describe("the ledger's roles of the compose file", () => {
  const home = makeHome();
  let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
  let ledger: Ledger;
  let role: OutsideClient;
  let beforeSetup: unknown;
  let madeBeforeSetup: unknown;

  function urlOf(database: string, user = "ledger", password = PASSWORD): string {
    const url = new URL(server.ownerUrl);
    url.username = user;
    url.password = encodeURIComponent(password);
    url.pathname = `/${database}`;
    return url.href;
  }

  beforeAll(async () => {
    server = await startEmbeddedPostgres({ home });
    const superuser = openOutsideClient(server.ownerUrl);
    for (const statement of statements()) await superuser.query(statement);
    await superuser.end();
    const url = urlOf("ledger");
    ledger = openLedger({ url, home: "/nowhere" });
    beforeSetup = await ledger.ready().catch((error: unknown) => error);
    role = openOutsideClient(url);
    const { rows } = await role.query("select relname from pg_class where relnamespace = 'public'::regnamespace");
    madeBeforeSetup = rows;
    const owned = openLedger({ url, ownerUrl: urlOf("ledger", "ledger_owner", OWNER_PASSWORD), home: "/nowhere" });
    await owned.ready();
    await owned.close();
  });
  afterAll(async () => {
    await role.end();
    await ledger.close();
    await server.close();
    await rm(home, { recursive: true, force: true });
  });

  test("that of the workers waits until the owner has made the tables, and makes none", () => {
    expect(beforeSetup).toMatchObject({ code: "unavailable", message: SET_UP_FIRST });
    expect(madeBeforeSetup).toEqual([]);
  });

  test("that of the workers may run setup too, once there is nothing to make", async () => {
    const again = openLedger({ url: urlOf("ledger"), ownerUrl: urlOf("ledger"), home: "/nowhere" });
    await expect(again.ready()).resolves.toBeUndefined();
    await again.close();
  });

  test("that of the workers uses the tables that the owner has made", async () => {
    const movement = firstTry();
    expect(await ledger.stock.take(movement)).toEqual({ kind: "taken" });
    await ledger.stock.settle({ ...movement, outcome: APPLIED });
    expect(await ledger.stock.read(movement)).toEqual(APPLIED);
    const { keep, kept, scope } = businessWithPurchases(ledger);
    await keep([purchaseOf("one")]);
    expect(await kept()).toHaveLength(1);
    for await (const chain of ledger.verify(scope)) expect(chain).toMatchObject({ events: 1, findings: [] });
  });

  test.each(["temporal", "temporal_visibility", "postgres", "template1"])(
    "cannot connect to the database %s",
    async (database) => {
      const client = openOutsideClient(urlOf(database));
      await expect(client.query("select 1")).rejects.toThrow(`permission denied for database "${database}"`);
    },
  );

  test.each([
    ["a role", "create role other login"],
    ["a database", "create database other"],
    ["an untrusted function", "create function f() returns void language c as 'x', 'y'"],
    ["a file of the server", "copy (select 1) to '/tmp/ledger-role'"],
    ["a table", "create table events_too (number int)"],
    ["a temporary table", "create temporary table events (number int)"],
  ])("cannot create %s", async (_what, statement) => {
    await expect(role.query(statement)).rejects.toThrow(/permission denied/);
  });

  test.each([
    "insert into events select * from events",
    "update events set kind = 'x'",
    "update event_heads set count = 0",
    "drop function append_events",
    "create or replace function append_events() returns void language sql as 'select 1'",
  ])("cannot: %s", async (statement) => {
    await expect(role.query(statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  test("deletes from no table, empties none, and switches off no trigger", async () => {
    const { rows } = await role.query<{ name: string }>(
      "select quote_ident(relname) as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace",
    );
    expect(rows.length).toBeGreaterThan(13);
    // A table that the grants do not name would be found here.
    for (const { name } of rows) await role.query(`select from ${name} limit 1`);
    for (const { name } of rows) {
      const change = [`delete from ${name}`, `truncate ${name}`, `drop table ${name}`];
      const refused = [...change, `alter table ${name} disable trigger all`];
      for (const statement of refused)
        await expect(role.query(statement), statement).rejects.toThrow(/permission denied|must be owner/);
    }
  });

  test("leaves the function that appends events to nobody else", async () => {
    const superuser = openOutsideClient(server.ownerUrl.replace("/postgres?", "/ledger?"));
    await superuser.query("create role reporting login password 'hush'; grant connect on database ledger to reporting");
    await superuser.end();
    const reporting = openOutsideClient(urlOf("ledger", "reporting", "hush"));
    const event = "'{x}', '{INV-1}', '{null}', '{sale}', '{run}', '{1}'";
    const append = reporting.query(`select append_events('default', 'biz_role', ${event})`);
    await expect(append).rejects.toThrow(/permission denied for function/);
    await reporting.end();
  });

  test("says which login may not make the tables", async () => {
    const empty = openOutsideClient(server.ownerUrl);
    await empty.query("create database empty");
    await empty.query("grant connect on database empty to ledger, ledger_owner");
    await empty.end();
    const asked = openLedger({
      url: urlOf("empty"),
      ownerUrl: urlOf("empty", "ledger_owner", OWNER_PASSWORD),
      home: "/nowhere",
    });
    await expect(asked.ready()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/ledger_owner may not make the ledger's tables: give LEDGER_OWNER_URL/),
    });
    await asked.close();
  });

  test("appends an event by the owner's function alone", async () => {
    const event = "'{x}', '{INV-1}', '{null}', '{sale}', '{run}', '{1}'";
    await role.query(`select append_events('default', 'biz_role', ${event})`);
    for await (const chain of ledger.verify({ businessId: "biz_role" }))
      expect(chain).toMatchObject({ events: 1, findings: [] });
  });

  test("is no superuser and owns no database", async () => {
    const { rows } = await role.query(
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
        (select json_agg(datname) from pg_database where datdba = pg_roles.oid) as owns
      from pg_roles where rolname = current_user`,
    );
    expect(rows).toEqual([
      {
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
        rolbypassrls: false,
        owns: null,
      },
    ]);
  });

  test("that of Temporal makes tables in its own databases, and reaches no other", async () => {
    for (const database of ["temporal", "temporal_visibility"]) {
      const client = openOutsideClient(urlOf(database, "temporal", TEMPORAL_PASSWORD));
      // As the schema of Temporal's visibility does.
      await client.query("create extension btree_gin");
      await client.query("create table executions (id int)");
      await expect(client.query("create database other")).rejects.toThrow("permission denied");
      await expect(client.query("create role other")).rejects.toThrow("permission denied");
      await client.end();
    }
    for (const database of ["ledger", "postgres", "template1"]) {
      const client = openOutsideClient(urlOf(database, "temporal", TEMPORAL_PASSWORD));
      await expect(client.query("select 1")).rejects.toThrow(`permission denied for database "${database}"`);
    }
  });
});
