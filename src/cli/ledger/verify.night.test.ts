import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { billPayment, someConnection } from "../../ledger/test-support/bill-payments.ts";
import { ledgerOfSuite } from "../../ledger/test-support/create-test-ledger.ts";
import { taking } from "../../ledger/test-support/movements.ts";
import { keepRecord, recordOf, someBusiness, WRITER } from "../../ledger/test-support/records.ts";
import { callCli, type CliResult } from "../test-support/call-cli.ts";

const test = ledgerOfSuite();

const verify = (...flags: string[]): Promise<CliResult> =>
  callCli(["ledger", "verify", ...flags], { env: { LEDGER_URL: test.url } });

/** A business with five sales. */
async function businessWithSales(): Promise<string> {
  const business = someBusiness();
  for (const n of [1, 2, 3, 4, 5]) await keepRecord(test.ledger, business, recordOf(`INV-${n}`, { movements: [] }));
  return business.businessId;
}

const tamper = (statement: string, businessId: string): Promise<void> => test.outside.tamper(statement, [businessId]);

describe("fiscalflow ledger verify", () => {
  it("says that an unaltered ledger is as written, with its last event", async () => {
    const businessId = await businessWithSales();
    const said = await verify("--business", businessId);
    expect(said).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^Ledger: \S+\n$/) });
    expect(said.stdout).toMatch(
      new RegExp(`^default/${businessId}: unaltered: 10 events, 5 documents; last event 10, hash [0-9a-f]{64}\n$`),
    );
  });

  it("counts apart the sales and credit notes that have no document", async () => {
    const businessId = await businessWithSales();
    const cancelled = recordOf("INV-6", { document: null, stage: "cancelled", movements: [] });
    await keepRecord(test.ledger, { connection: "default", businessId }, cancelled);
    const said = await verify("--business", businessId);
    expect(said.stdout).toContain(
      "unaltered: 12 events, 5 documents, 1 sale or credit note without a document; last event 12, hash ",
    );
    const json = await verify("--business", businessId, "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ chains: [{ documents: 6, withoutDocument: 1 }] });
  });

  it.each([
    [
      "update events set content = replace(content, '700.2', '70.2') where business_id = $1 and number = 4",
      "event 4 (sale INV-2) does not say what was written",
    ],
    ["delete from events where business_id = $1 and number = 1", "event 1 is not there"],
    ["delete from events where business_id = $1 and number = 3", "event 3 is not there"],
    ["delete from events where business_id = $1 and number = 10", "event 10 is not there"],
    [
      "update documents set total = 1 where business_id = $1 and number = 'INV-2'",
      "sale INV-2 (table documents) does not say what its event says, in total",
    ],
  ])("reports the alteration: %s", async (statement, finding) => {
    const businessId = await businessWithSales();
    await tamper(statement, businessId);
    const said = await verify("--business", businessId);
    expect(said.exitCode).toBe(1);
    expect(said.stdout).toContain(finding);
    expect(said.stderr).toContain("docs/ledger.md");
    const json = await verify("--business", businessId, "--json");
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, chains: [{ connection: "default", businessId }] });
  });

  it("compares the payments and batches of an accounting connection with its chain", async () => {
    const { name, keep } = someConnection(test.ledger);
    await keep([billPayment("bp_1"), billPayment("bp_2")]);
    const batch = { connection: name, syncBatchId: "batch_1", generation: 1, token: "t", ...taking(), writer: WRITER };
    await test.ledger.syncBatches.take({ ...batch, nowMs: 1 });
    const chain = ["--connection", name];
    const said = await verify(...chain);
    expect(said).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^Ledger: \S+\n$/) });
    expect(said.stdout).toContain(
      `accounting/${name}/-: unaltered: 3 events, 2 bill payments, 1 sync batch; last event 3, hash `,
    );
    await test.outside.tamper("delete from sync_batches where connection = $1", [name]);
    await test.outside.tamper(
      `update bill_payments set body = body || '{"note":"x"}' where connection = 'accounting/' || $1 and id = 'bp_2'`,
      [name],
    );
    const found = await verify(...chain);
    expect(found.exitCode).toBe(1);
    expect(found.stdout.split("\n").slice(1, 3)).toEqual([
      "  bill payment bp_2 (table bill_payments) does not say what its event says, in body",
      "  sync batch batch_1 (table sync_batches) is not there; its event tells of it",
    ]);
  });

  it("reports a chain that was rewritten as a whole, by heads that were kept elsewhere", async () => {
    const businessId = await businessWithSales();
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-verify-"));
    const seen = join(folder, "seen.json");
    try {
      await writeFile(seen, (await verify("--business", businessId, "--json")).stdout);
      const same = await verify("--business", businessId, "--against", seen);
      expect(same).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`Compared with ${seen}: 1 chain.\n`) });
      for (const table of ["events", "event_heads", "documents"])
        await tamper(`delete from ${table} where business_id = $1`, businessId);
      for (const n of [1, 2, 3, 4, 6])
        await keepRecord(test.ledger, { connection: "default", businessId }, recordOf(`INV-${n}`, { movements: [] }));
      expect(await verify("--business", businessId)).toMatchObject({ exitCode: 0 });
      const said = await verify("--business", businessId, "--against", seen);
      expect(said).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining("event 10 is not the one that was seen"),
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("names the chains that an earlier look had not seen", async () => {
    const [before, after] = [await businessWithSales(), await businessWithSales()];
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-verify-"));
    const seen = join(folder, "seen.json");
    try {
      await writeFile(seen, (await verify("--business", before, "--json")).stdout);
      const said = await verify("--business", after, "--against", seen);
      expect(said).toMatchObject({ exitCode: 0 });
      expect(said.stderr).toContain(
        `Compared with ${seen}: 0 chains.\nNot in ${seen}, so not compared with it: default/${after}.\n`,
      );
      const json = JSON.parse((await verify("--business", after, "--against", seen, "--json")).stdout);
      expect(json.against).toEqual({ compared: 0, notInFile: [`default/${after}`] });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("counts one document, and one finding, as one", async () => {
    const business = someBusiness();
    const { businessId } = business;
    await keepRecord(test.ledger, business, recordOf("INV-1", { movements: [] }));
    expect((await verify("--business", businessId)).stdout).toContain(
      "unaltered: 2 events, 1 document; last event 2, hash ",
    );
    await tamper("update documents set total = 1 where business_id = $1", businessId);
    const said = await verify("--business", businessId);
    expect(said).toMatchObject({ stdout: expect.stringContaining(": 1 finding: ") });
    expect(said.stderr).toContain("1 finding. What each means");
  });

  it("refuses a file without any chain to compare with", async () => {
    const stdin = JSON.stringify({ ok: true, chains: [] });
    const said = await callCli(["ledger", "verify", "--against", "-"], { env: { LEDGER_URL: test.url }, stdin });
    expect(said).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("- has no chain with events") });
  });

  it("refuses a file that is not its own output", async () => {
    const said = await callCli(["ledger", "verify", "--against", "-"], { env: { LEDGER_URL: test.url }, stdin: "{}" });
    expect(said).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("ledger verify --json") });
  });

  it("names the address of a ledger that cannot be reached, and ends with 1", async () => {
    const said = await callCli(["ledger", "verify"], { env: { LEDGER_URL: "postgres://nobody@127.0.0.1:9/none" } });
    expect(said).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("127.0.0.1:9/none") });
  });
});
