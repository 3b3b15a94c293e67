import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll } from "vitest";
import { startEmbeddedPostgres } from "../../servers/test-support/start-embedded-postgres.ts";
import { type Ledger, openLedger } from "../index.ts";
import { HOME_OF_RUN, makeHome } from "./home-of-run.ts";
import { type OutsideClient, openOutsideClient, withOutsideClient } from "./outside-client.ts";

export interface TestLedger {
  /** With the workers' login. */
  readonly url: string;
  readonly ownerUrl: string;
  readonly ledger: Ledger;
  /** On its database, as its owner. */
  readonly outside: OutsideClient;
  /** From now on its database serves no connection and takes none, until what it returns is called. */
  cut(): Promise<() => Promise<void>>;
  /** Closes the ledger and removes its database. */
  drop(): Promise<void>;
}

let server: ReturnType<typeof testServer> | undefined;
let own: string | undefined;

/** The server of this test run; that of LEDGER_TEST_URL where it is given. */
function testServer(): Promise<{ url: string; ownerUrl: string; close(): Promise<void> }> {
  const url = process.env["LEDGER_TEST_URL"];
  if (url) return Promise.resolve({ url, ownerUrl: url, close: async () => undefined });
  const shared = process.env[HOME_OF_RUN];
  if (!shared) own = makeHome();
  return startEmbeddedPostgres({ home: shared ?? own ?? "" });
}

// The run's own is for all files of this process, which share this module: the holder for the run ends it.
afterAll(async () => {
  if (!own) return;
  await (await server)?.close();
  server = undefined;
  await rm(own, { recursive: true, force: true });
});

/** A ledger on a database of its own. @param operationTimeoutMs as that of `openLedger` */
export async function createTestLedger(operationTimeoutMs?: number): Promise<TestLedger> {
  server ??= testServer();
  const addresses = await server;
  const serverUrl = addresses.ownerUrl;
  const name = `ledger_${randomBytes(6).toString("hex")}`;
  await runOn(serverUrl, `create database ${name}`);
  const ofDatabase = (address: string): string => Object.assign(new URL(address), { pathname: `/${name}` }).href;
  const [url, ownerUrl] = [ofDatabase(addresses.url), ofDatabase(serverUrl)];
  const ledger = openLedger({ url, ownerUrl, home: "/nowhere", operationTimeoutMs });
  await ledger.ready();
  const outside = openOutsideClient(ownerUrl);
  return {
    url,
    ownerUrl,
    ledger,
    outside,
    async cut() {
      const connections = `alter database ${name} with allow_connections`;
      await runOn(serverUrl, `${connections} false`);
      await runOn(serverUrl, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      return () => runOn(serverUrl, `${connections} true`);
    },
    async drop() {
      await outside.end();
      await ledger.close();
      await runOn(serverUrl, `drop database ${name} with (force)`);
    },
  };
}

/** The test ledger of the suite that calls this: there, and ready, when its tests begin, and gone after them. */
export function ledgerOfSuite(): TestLedger {
  const suite = {} as TestLedger;
  let created: TestLedger | undefined;
  beforeAll(async () => {
    created = await createTestLedger(15_000);
    Object.assign(suite, created);
  });
  afterAll(() => created?.drop());
  return suite;
}

async function runOn(url: string, statement: string): Promise<void> {
  await withOutsideClient(url, (client) => client.query(statement));
}
