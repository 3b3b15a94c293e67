import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Ledger, openLedger, startEmbeddedPostgres } from "./index.ts";
import { makeHome } from "./test-support/home-of-run.ts";
import { APPLIED, firstTry } from "./test-support/movements.ts";
import { openOutsideClient, type OutsideClient } from "./test-support/outside-client.ts";
import { businessWithPurchases, purchaseOf } from "./test-support/purchases.ts";

const SCRIPT = resolve(import.meta.dirname, "../../deploy/postgres/databases.sql");
const PASSWORD = "it's a secret";

/** The script's statements, with the password that psql would take from the environment. */
function statements(): string[] {
  return readFileSync(SCRIPT, "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("--") && !line.startsWith("\\"))
    .join("\n")
    .replace(":'ledger_password'", () => pg.escapeLiteral(PASSWORD))
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

describe("the ledger's role of the compose file", () => {
  const home = makeHome();
  let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
  let ledger: Ledger;
  let role: OutsideClient;

  function urlOf(database: string): string {
    const url = new URL(server.url);
    url.username = "ledger";
    url.password = encodeURIComponent(PASSWORD);
    url.pathname = `/${database}`;
    return url.href;
  }

  beforeAll(async () => {
    server = await startEmbeddedPostgres({ home });
    const superuser = openOutsideClient(server.url);
    for (const statement of statements()) await superuser.query(statement);
    await superuser.end();
    ledger = openLedger({ url: urlOf("ledger"), home: "/nowhere" });
    role = openOutsideClient(urlOf("ledger"));
  });
  afterAll(async () => {
    await role.end();
    await ledger.close();
    await server.close();
    await rm(home, { recursive: true, force: true });
  });

  test("makes the ledger's tables and uses them", async () => {
    await ledger.ready();
    const movement = firstTry();
    expect(await ledger.stock.take(movement)).toEqual({ kind: "taken" });
    await ledger.stock.settle({ ...movement, outcome: APPLIED });
    expect(await ledger.stock.read(movement)).toEqual(APPLIED);
    const { keep, kept, scope } = businessWithPurchases(ledger);
    await keep([purchaseOf("one")]);
    expect(await kept()).toHaveLength(1);
    for await (const chain of ledger.events.verify(scope)) expect(chain).toMatchObject({ events: 1, findings: [] });
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
  ])("cannot create %s", async (_what, statement) => {
    await expect(role.query(statement)).rejects.toThrow(/permission denied/);
  });

  test("is no superuser and owns its own database alone", async () => {
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
        owns: ["ledger"],
      },
    ]);
  });
});
