import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { reportFile, writePage } from "./day-report.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "fiscalflow-page-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

it("the demo's day report is written to a file of its day, which the next report of that day replaces", async () => {
  const file = reportFile("2026-11-21", await folder());
  await writePage(file, "first");
  await writePage(file, "second");
  expect(file).toMatch(/\.fiscalflow\/demo\/day-2026-11-21\.html$/);
  expect(await readFile(file, "utf8")).toBe("second");
});

it("a day report that cannot be written says what to do", async () => {
  const inTheWay = join(await folder(), "file");
  await writeFile(inTheWay, "");
  await expect(writePage(join(inTheWay, "day.html"), "page")).rejects.toThrow(
    /^The page of the day's report cannot be written: E[A-Z]+: .*\. Give another place with --report FILE\.$/,
  );
});
