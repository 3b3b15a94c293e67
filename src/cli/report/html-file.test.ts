import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createTestLedger, type TestLedger } from "../../ledger/test-support/create-test-ledger.ts";
import { recordOf, someBusiness, WRITER } from "../../ledger/test-support/records.ts";
import { callCli, type CliResult } from "../test-support/call-cli.ts";

let test: TestLedger;
let folder: string;
beforeAll(async () => {
  test = await createTestLedger(15_000);
  await test.ledger.ready();
  await test.ledger.records.saveDocument(someBusiness(), recordOf("INV-1"), WRITER);
  folder = await mkdtemp(join(tmpdir(), "report-"));
});
afterAll(async () => {
  await test?.drop();
  await rm(folder, { recursive: true, force: true });
});

const report = (...argv: string[]): Promise<CliResult> =>
  callCli(["report", "day", ...argv], { env: { LEDGER_URL: test.url } });

describe("the page of a report", () => {
  it("replaces no file, unless asked to", async () => {
    const file = join(folder, "day.html");
    expect(await report("--html", file)).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await readFile(file, "utf8")).toContain("</html>");
    await writeFile(file, "mine");
    const refused = await report("--html", file);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`The file ${file} exists already.`),
    ]);
    expect(refused.stderr).toContain("Give another one with --html, or add --force.");
    expect(await readFile(file, "utf8")).toBe("mine");
    expect(await report("--html", file, "--force")).toMatchObject({ exitCode: 0 });
    expect(await readFile(file, "utf8")).toContain("</html>");
    expect(await readdir(folder)).toEqual(["day.html"]);
  });

  it("is refused where it cannot be written, and --force where there is none", async () => {
    const away = await report("--html", join(folder, "none", "day.html"));
    expect([away.exitCode, away.stderr]).toEqual([2, expect.stringContaining("Give another one with --html.")]);
    const alone = await report("--force");
    expect([alone.exitCode, alone.stderr]).toEqual([2, expect.stringContaining("--force belongs to --html.")]);
  });
});
