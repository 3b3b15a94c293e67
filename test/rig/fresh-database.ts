import { randomBytes } from "node:crypto";
import type { NetConnectOpts } from "node:net";

import { WORKER_ROLE } from "../../src/servers/postgres-server.ts";
import { SERVER_USER } from "../../src/servers/postgres-files.ts";
import { openLedger } from "../../src/ledger/index.ts";
import { withOutsideClient } from "../../src/ledger/test-support/outside-client.ts";

/**
 * A database of its own on the suites' server, with the ledger's tables: each suite has its own numbers.
 * @param serverUrl with the login that owns what it makes
 * @returns its address with the workers' login
 */
export async function freshDatabase(serverUrl: string): Promise<string> {
  const addresses = await emptyDatabase(serverUrl);
  const ledger = openLedger({ ...addresses, home: "/nowhere" });
  await ledger.ready();
  await ledger.close();
  return addresses.url;
}

/** The same without the tables. */
export async function emptyDatabase(serverUrl: string): Promise<{ url: string; ownerUrl: string }> {
  const name = `suite_${randomBytes(6).toString("hex")}`;
  await withOutsideClient(serverUrl, (client) => client.query(`create database ${name}`));
  const ownerUrl = new URL(serverUrl);
  ownerUrl.pathname = `/${name}`;
  const url = new URL(ownerUrl);
  url.username = WORKER_ROLE;
  return { url: url.href, ownerUrl: ownerUrl.href };
}

/** The same database for its owner: both logins of the suites' server have one password. */
export function asOwner(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = SERVER_USER;
  return url.href;
}

/** Where a server of that address listens, for a line in between. */
export function listenerOf(databaseUrl: string): NetConnectOpts {
  const url = new URL(databaseUrl);
  const folder = url.searchParams.get("host");
  const port = url.port || "5432";
  return folder ? { path: `${folder}/.s.PGSQL.${port}` } : { host: url.hostname, port: Number(port) };
}

/** The same database by way of a port of this host. */
export function throughPort(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl);
  url.searchParams.delete("host");
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return url.href;
}
