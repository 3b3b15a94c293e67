import { randomBytes } from "node:crypto";
import type { NetConnectOpts } from "node:net";

import { openOutsideClient } from "../../src/ledger/test-support/outside-client.ts";

/** A database of its own on the suites' server: each suite has its own numbers. */
export async function freshDatabase(serverUrl: string): Promise<string> {
  const name = `suite_${randomBytes(6).toString("hex")}`;
  const client = openOutsideClient(serverUrl);
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
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
