import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createTestLedger, type TestLedger } from "../../ledger/test-support/create-test-ledger.ts";
import { keepRecord, recordOf, someBusiness, WRITER } from "../../ledger/test-support/records.ts";
import { callCli, type CliResult } from "../test-support/call-cli.ts";

let test: TestLedger;
let folder: string;
beforeAll(async () => {
  test = await createTestLedger(15_000);
  await test.ledger.ready();
  await keepRecord(test.ledger, someBusiness(), recordOf("INV-1"), WRITER);
  folder = await mkdtemp(join(tmpdir(), "report-"));
});
afterAll(async () => {
  await test?.drop();
  await rm(folder, { recursive: true, force: true });
});

const report = (...argv: string[]): Promise<CliResult> =>
  callCli(["report", "day", ...argv], { env: { LEDGER_URL: test.url } });

describe("the file of a report", () => {
  it("takes the place of one of its name, with nothing left beside it", async () => {
    const file = join(folder, "day.html");
    await writeFile(file, "of yesterday");
    const said = await report("--out", file);
    expect(said).toMatchObject({ exitCode: 0, stdout: "", stderr: expect.stringContaining(`Written to ${file}.`) });
    expect(await readFile(file, "utf8")).toMatch(/^<!doctype html>[^]*<\/html>/);
    expect(await readdir(folder)).toEqual(["day.html"]);
  });

  it("is refused where it cannot be written", async () => {
    const away = await report("--out", join(folder, "none", "day.html"));
    expect([away.exitCode, away.stderr]).toEqual([
      2,
      expect.stringContaining("(ENOENT). Give another one with --out."),
    ]);
  });

  it("does not take the place of what is no file", async () => {
    const taken = await report("--out", folder);
    expect([taken.exitCode, taken.stderr]).toEqual([2, expect.stringContaining("is there already, and no file")]);
  });

  it.each([
    ["day.HTML", [], /^<!doctype html>/],
    ["day.txt", [], /^\S+ \(connection default\), /],
    ["day", [], /^\S+ \(connection default\), /],
    ["day.json", [], /^\{\n {2}"period":/],
    ["day.txt", ["--format", "json"], /^\{\n {2}"period":/],
    ["day.dat", ["--json"], /^\{\n {2}"period":/],
  ])("writes %s with %j in the format of its ending, unless it is told otherwise", async (name, flags, begins) => {
    const file = join(folder, name);
    expect(await report(...flags, "--out", file)).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await readFile(file, "utf8")).toMatch(begins);
    expect((await report("--format", "html")).stdout).toMatch(/^<!doctype html>/);
  });

  it.each([
    [["--out", "day.pdf"], "No format has the ending .pdf. Add --format: text, html, json."],
    [["--format", "html", "--json"], "cannot be used with option '--json'"],
  ])("refuses %j", async (flags, why) => {
    const said = await report(...flags);
    expect([said.exitCode, said.stdout, said.stderr]).toEqual([2, "", expect.stringContaining(why)]);
  });
});
