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
  it("replaces no file, unless asked to", async () => {
    const file = join(folder, "day.html");
    expect(await report("--out", file)).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await readFile(file, "utf8")).toContain("</html>");
    await writeFile(file, "mine");
    const refused = await report("--out", file);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`The file ${file} exists already.`),
    ]);
    expect(refused.stderr).toContain("Give another one with --out, or add --force.");
    expect(await readFile(file, "utf8")).toBe("mine");
    expect(await report("--out", file, "--force")).toMatchObject({ exitCode: 0 });
    expect(await readFile(file, "utf8")).toContain("</html>");
    expect(await readdir(folder)).toEqual(["day.html"]);
  });

  it("is refused where it cannot be written, and --force where there is none", async () => {
    const away = await report("--out", join(folder, "none", "day.html"));
    expect([away.exitCode, away.stderr]).toEqual([2, expect.stringContaining("Give another one with --out.")]);
    const alone = await report("--force");
    expect([alone.exitCode, alone.stderr]).toEqual([2, expect.stringContaining("--force belongs to --out.")]);
  });

  it.each([
    ["day.html", [], /^<!doctype html>/],
    ["day.CSV", [], /^connection,business,period,/],
    ["day.txt", [], /^\S+ \(connection default\), /],
    ["day", [], /^\S+ \(connection default\), /],
    ["day.htm", ["--format", "csv", "--bom"], /^\uFEFFconnection,business,period,/],
    ["day.json", [], /^\{\n {2}"period":/],
    ["day.json", ["--format", "csv"], /^connection,business,period,/],
    ["day.txt", ["--format", "json"], /^\{\n {2}"period":/],
    ["day.dat", ["--json"], /^\{\n {2}"period":/],
  ])("writes %s with %j in the format of its ending, unless it is told otherwise", async (name, flags, begins) => {
    const file = join(folder, name);
    expect(await report(...flags, "--out", file, "--force")).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await readFile(file, "utf8")).toMatch(begins);
    expect((await report("--format", "html")).stdout).toMatch(/^<!doctype html>/);
    await rm(file);
  });

  it.each([
    [
      ["--out", "day.pdf"],
      "No format has the ending .pdf: use one of .csv, .html, .htm, .txt, .json, or add --format.",
    ],
    [["--format", "csv", "--json"], "Give --format or --json, not both."],
    [["--bom", "--out", "day.html"], "--bom belongs to --format csv."],
  ])("refuses %j", async (flags, why) => {
    const said = await report(...flags);
    expect([said.exitCode, said.stdout, said.stderr]).toEqual([2, "", expect.stringContaining(why)]);
  });
});
