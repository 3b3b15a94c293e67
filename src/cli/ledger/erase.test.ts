import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { saleContent } from "../../contract/index.ts";
import { ledgerOfSuite } from "../../ledger/test-support/create-test-ledger.ts";
import { documentOf, keepRecord, recordOf, someBusiness } from "../../ledger/test-support/records.ts";
import type { CliContext } from "../context.ts";
import { callCli, type CliResult } from "../test-support/call-cli.ts";
import { keepErasures, readErasures } from "./erasures.ts";

const server = ledgerOfSuite();
const PIN = "A000000001B";
const customer = { name: "Wanjikũ Kamau", pin: PIN, phone: "+254700000001" };

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fiscalflow-erase-"));
  file = join(folder, "erasures.jsonl");
  const business = someBusiness();
  for (const [number, date, stage] of [
    ["INV-OLD", "2015-03-02", "completed"],
    ["INV-NEW", "2026-11-20", "completed"],
    ["INV-OPEN", "2015-03-02", "crediting"],
  ] as const) {
    const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
    const content = saleContent({ traderInvoiceNumber: number, customer, lines }, undefined);
    const document = documentOf(number, { customer, saleDate: date });
    await keepRecord(server.ledger, business, recordOf(number, { content, date, document, stage }));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const erase = (...flags: string[]): Promise<CliResult> =>
  callCli(["ledger", "erase", ...flags], { env: { LEDGER_URL: server.url, LEDGER_OWNER_URL: server.ownerUrl } });

const named = async (): Promise<number> => {
  const statement = `select count(*)::int as count from events where content like '%${customer.name}%'`;
  const { rows } = await server.outside.query<{ count: number }>(statement);
  return rows[0]?.count ?? 0;
};

describe("fiscalflow ledger erase", () => {
  it.each([
    [[], "--before <date>, or --customer-pin <pin>"],
    [["--before", "2016-01-01", "--customer-pin", PIN], "--before <date>, or --customer-pin <pin>"],
    [["--before", "2016-13-01", "--dry-run"], "expected a date"],
    [["--before", "2999-01-01", "--dry-run"], "in the future"],
    [["--before", "2016-01-01"], "--erasures <file>"],
  ])("refuses %j, and erases nothing", async (flags, problem) => {
    const before = await named();
    expect(await erase(...flags)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(problem) });
    expect(await named()).toBe(before);
  });

  it("says what it would erase, erases it, and writes down which sales, naming nobody", async () => {
    const before = await named();
    const planned = await erase("--customer-pin", PIN, "--dry-run");
    expect(planned.stdout).toMatch(/1 sale \(\d+ events\) would lose all that was said of the customer\./);
    expect(planned.stdout).toMatch(/1 sale \(\d+ events\) would lose telephone and email alone: .* within 5 years\./);
    expect(planned.stdout).toContain("1 sale still open, and left: INV-OPEN");
    expect(await named()).toBe(before);

    const erased = await erase("--customer-pin", PIN, "--erasures", file, "--json");
    expect(erased.exitCode).toBe(1);
    expect(JSON.parse(erased.stdout)).toMatchObject({
      dryRun: false,
      retentionYears: 5,
      erased: [
        { number: "INV-NEW", erased: "contact" },
        { number: "INV-OLD", erased: "customer" },
      ],
      stillOpen: [{ number: "INV-OPEN" }],
    });
    expect(erased.stderr).toContain("Temporal keeps what it has");
    const written = await readFile(file, "utf8");
    expect(written.trim().split("\n")).toHaveLength(2);
    for (const value of Object.values(customer)) expect(written).not.toContain(value);
    const verified = await callCli(["ledger", "verify", "--erasures", file], { env: { LEDGER_URL: server.url } });
    expect(verified).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("with something erased") });
  });

  it("has a file that is read line by line, and goes on behind a line that was not written to its end", async () => {
    const notes: string[] = [];
    const context = { stderr: { write: (text: string) => notes.push(text) } } as unknown as CliContext;
    const read = async (): Promise<string[]> => {
      const numbers: string[] = [];
      for await (const { number } of readErasures(context, file)) numbers.push(number);
      return numbers;
    };
    expect(await read()).toEqual(["INV-NEW", "INV-OLD"]);
    await appendFile(file, '{"connection":"def');
    expect(await read()).toEqual(["INV-NEW", "INV-OLD"]);
    expect(notes.join("")).toContain("lines 3.");
    const of = { connection: "default", businessId: "biz", type: "sale", erased: "contact" } as const;
    await keepErasures(file, [{ ...of, number: "INV-LATER" }]);
    expect(await read()).toEqual(["INV-NEW", "INV-OLD", "INV-LATER"]);
    file = join(folder, "torn");
    await appendFile(file, '{"connection":"def');
    await keepErasures(file, [{ ...of, number: "INV-LATER" }]);
    expect(await read()).toEqual(["INV-LATER"]);
    file = join(folder, "other");
    await appendFile(file, "INV-NEW\n");
    await expect(read()).rejects.toThrow("is not what `fiscalflow ledger erase` has written");
    file = join(folder, "none");
    await expect(read()).rejects.toThrow("cannot be read");
  });
});
