import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { Certificates } from "../http/test-support/certificates.ts";
import { openLedger } from "./index.ts";
import { ledgerOfSuite } from "./test-support/create-test-ledger.ts";

/** What a client of PostgreSQL sends first, if it wants TLS: the length, and the code of the request. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

describe("a ledger on another host", () => {
  const direct = ledgerOfSuite();
  let certificates: Certificates;
  beforeAll(async () => {
    certificates = await Certificates.create();
    await certificates.makeAuthority("ours");
    await certificates.makeAuthority("another");
    for (const name of ["localhost", "db.example.com"])
      await certificates.issue(name, { by: "ours", names: `DNS:${name}` });
  });
  afterAll(() => certificates.remove());

  const file = (name: string): string => certificates.at(name);

  /** Ends TLS before the suite's PostgreSQL, under the certificate of that name; without one it refuses TLS. */
  async function serverAs(name: string | undefined): Promise<{ port: number; encrypted: () => number }> {
    const { searchParams } = new URL(direct.url);
    const behind = join(searchParams.get("host") ?? "", ".s.PGSQL.5432");
    const certificate = name && (await certificates.pairOf(name));
    const open = new Set<Socket>();
    let encrypted = 0;
    const server = createServer((plain) => {
      open.add(plain);
      plain.on("error", () => undefined);
      plain.once("data", (first) => {
        if (!first.equals(SSL_REQUEST) || !certificate) return void plain.end(first.equals(SSL_REQUEST) ? "N" : "");
        plain.write("S");
        const secured = new TLSSocket(plain, { isServer: true, ...certificate });
        secured.on("error", () => plain.destroy());
        secured.on("secure", () => (encrypted += 1));
        const postgres = connect(behind);
        open.add(postgres);
        postgres.on("error", () => plain.destroy());
        secured.pipe(postgres).pipe(secured);
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    return { port: (server.address() as AddressInfo).port, encrypted: () => encrypted };
  }

  function ready(port: number, parameters: Record<string, string>): Promise<void> {
    const url = new URL(direct.url);
    url.host = `localhost:${port}`;
    url.search = new URLSearchParams(parameters).toString();
    const ledger = openLedger({ url: url.href, home: "/nowhere", operationTimeoutMs: 5_000 });
    onTestFinished(() => ledger.close());
    return ledger.ready();
  }

  test("is reached through TLS, if its certificate is of a known authority, and of its name", async () => {
    const { port, encrypted } = await serverAs("localhost");
    await ready(port, { sslmode: "verify-full", sslrootcert: file("ours.pem") });
    expect(encrypted()).toBe(1);
  });

  test.each([
    ["no authority is given", {}, "localhost", /certificate.*sslrootcert/],
    ["another authority is given", { sslrootcert: "another.pem" }, "localhost", /certificate.*sslrootcert/],
    ["the authority's file is not there", { sslrootcert: "nowhere.pem" }, "localhost", /ENOENT.*sslrootcert/],
    [
      "its certificate has another name",
      { sslrootcert: "ours.pem" },
      "db.example.com",
      /name.*db\.example\.com.*host of LEDGER_URL/,
    ],
    ["it has no TLS", { sslrootcert: "ours.pem" }, undefined, /does not support SSL.*ssl = on/],
  ])("cannot be used where %s, and the error says at once what to do", async (_what, given, name, words) => {
    const { port, encrypted } = await serverAs(name);
    const authority = Object.entries(given).map(([key, value]) => [key, file(value)]);
    const refused = ready(port, { sslmode: "verify-full", ...Object.fromEntries(authority) });
    await expect(refused).rejects.toThrow(words);
    await expect(refused).rejects.toMatchObject({ name: "LedgerUnavailableError" });
    expect(encrypted()).toBeLessThanOrEqual(1);
  });
});
