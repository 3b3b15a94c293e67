import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

import { openLedger } from "../../ledger/index.ts";
import { ledgerOfSuite } from "../../ledger/test-support/create-test-ledger.ts";
import { makeHome } from "../../ledger/test-support/home-of-run.ts";
import { keepRecord, recordOf, someBusiness } from "../../ledger/test-support/records.ts";
import { callCli } from "../test-support/call-cli.ts";

const server = ledgerOfSuite();
const home = makeHome();
afterAll(() => rm(home, { recursive: true, force: true }));

describe("fiscalflow ledger move", () => {
  it("moves the ledger of the home to a server, says what it moved, and does so once", async () => {
    const embedded = openLedger({ home, operationTimeoutMs: 15_000 });
    await embedded.ready();
    const business = someBusiness();
    for (const number of ["INV-1", "INV-2"]) await keepRecord(embedded, business, recordOf(number, { movements: [] }));
    await embedded.close();
    const env = { FISCALFLOW_HOME: home };

    const moved = await callCli(["ledger", "move", "--to", server.ownerUrl], { env });
    expect(moved).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("documents: 2 rows") });
    expect(moved.stdout).toContain("1 chain verified: 4 events, unaltered.");
    expect(moved.stderr).toContain("Set LEDGER_URL");
    expect(await server.ledger.documents.findSale(business, "INV-2")).toMatchObject({ record: { number: "INV-2" } });

    const again = await callCli(["ledger", "move", "--to", server.ownerUrl], { env });
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("was moved to this database already") });
  });

  it.each([
    ["mysql://db/ledger", "expected a URL postgres://"],
    ["postgres://u@db.example.com/ledger", "expected sslmode=verify-full"],
  ])("refuses %s, and moves nothing", async (to, problem) => {
    const refused = await callCli(["ledger", "move", "--to", to], { env: { FISCALFLOW_HOME: home } });
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(problem) });
  });

  it("refuses a configuration file that names a server, without asking that server", async () => {
    const file = join(home, "server.json");
    await writeFile(file, JSON.stringify({ ledger: { url: { env: "SHOP_LEDGER_URL" } } }));
    const refused = await callCli(["ledger", "move", "--to", server.ownerUrl], {
      env: { FISCALFLOW_HOME: home, FISCALFLOW_CONFIG: file, SHOP_LEDGER_URL: "postgres://u@127.0.0.1:9/none" },
    });
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("only the ledger in FISCALFLOW_HOME"),
    });
  });

  it("takes a server without TLS where the configuration file allows that", async () => {
    const file = join(home, "plaintext.json");
    await writeFile(file, JSON.stringify({ ledger: { allowPlaintext: true } }));
    // Nothing is there to be moved, which is found only once the address is accepted.
    const env = { FISCALFLOW_HOME: join(home, "none"), FISCALFLOW_CONFIG: file };
    const tried = await callCli(["ledger", "move", "--to", "postgres://u@db.example.com/ledger"], { env });
    expect(tried).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("There is no ledger in") });
  });
});
