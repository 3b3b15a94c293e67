import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { openLedger } from "./index.ts";
import { ledgerOfSuite } from "./test-support/create-test-ledger.ts";

const run = promisify(execFile);
/** What a client of PostgreSQL sends first, if it wants TLS: the length, and the code of the request. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

describe("a ledger on another host", () => {
  const direct = ledgerOfSuite();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-tls-"));
    await makeAuthority("ours");
    await makeAuthority("another");
    await makeCertificate("localhost");
    await makeCertificate("db.example.com");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const file = (name: string): string => join(folder, name);

  async function makeAuthority(name: string): Promise<void> {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file(`${name}.key`)];
    await run("openssl", ["req", "-x509", ...key, "-out", file(`${name}.pem`), "-subj", `/CN=${name}`, "-days", "2"]);
  }

  /** For a server of that name, signed by our authority. */
  async function makeCertificate(name: string): Promise<void> {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file(`${name}.key`)];
    await run("openssl", ["req", "-new", ...key, "-out", file(`${name}.csr`), "-subj", `/CN=${name}`]);
    await writeFile(file(`${name}.ext`), `subjectAltName=DNS:${name}\n`);
    const signer = ["-CA", file("ours.pem"), "-CAkey", file("ours.key"), "-CAcreateserial", "-days", "2"];
    const made = ["-in", file(`${name}.csr`), "-extfile", file(`${name}.ext`), "-out", file(`${name}.pem`)];
    await run("openssl", ["x509", "-req", ...made, ...signer]);
  }

  /** Ends TLS before the suite's PostgreSQL, under the certificate of that name; without one it refuses TLS. */
  async function serverAs(name: string | undefined): Promise<{ port: number; encrypted: () => number }> {
    const { searchParams } = new URL(direct.url);
    const behind = join(searchParams.get("host") ?? "", ".s.PGSQL.5432");
    const certificate = name && { key: await readFile(file(`${name}.key`)), cert: await readFile(file(`${name}.pem`)) };
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
