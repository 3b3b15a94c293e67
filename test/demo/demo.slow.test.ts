import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { isAlive } from "../../src/servers/test-support/process-state.ts";
import { type DemoProcess, demoProcess, fiscalflow } from "./demo-process.ts";

/** A sale that takes three seconds: the demo is in the middle of it. */
const IN_THE_MIDDLE = /DUKA-1002 .* awaiting-authority/;

interface Books {
  documents: { status: string; saleDate: string; totals: { total: number } }[];
}

interface Report {
  period: { from: string };
  businesses: { net: { total: string } }[];
}

describeWithTemporal("the demo", () => {
  test("ends with every example in its stage, all back-office jobs done, and books that agree with its tables", async () => {
    const demo = await demoProcess();
    expect({ exitCode: await demo.ended(), output: demo.output() }).toMatchObject({ exitCode: 0 });
    const lines = demo
      .output()
      .split("\n")
      .filter((line) => /^[✔✖] {2}DUKA-/.test(line));
    // Each was told when it ended, and once more as a result.
    expect([...new Set(lines)].toSorted()).toEqual([
      expect.stringMatching(/^✔ {2}DUKA-1001 .* completed .* NS \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1002 .* completed .* NS \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1003 .* completed .* NS \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1004 .* completed .* NS \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1005 .* completed .* NS \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1006 .* completed .* NS \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1007 .* credited .* NS \d+, \S+ \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1008 .* completed .* NS \d+$/),
      expect.stringMatching(/^✔ {2}DUKA-1009 .* completed .* NS \d+, needs an operator, as meant: stock-unknown$/),
    ]);
    // Nobody who waits for its start has to guess what it does.
    expect(demo.output()).toMatch(
      /^starting Temporal: takes seconds; .*\n(.*\n)*Temporal is ready.*\nstarting the simulated services .*\n(.*\n)*making the ledger's database\n(.*\n)*starting the workers\n/,
    );
    expect(demo.output()).toContain("The simulator's books agree: 10 documents and 10 stock movements, each once.");
    await expectBackOffice(demo);
  });

  test("that is interrupted in the middle leaves no process and no file behind", async () => {
    const demo = await demoProcess();
    await demo.says(IN_THE_MIDDLE);
    const children = await demo.children();
    expect(children.length).toBeGreaterThan(0);
    demo.interrupt();
    expect(await demo.ended()).toBe(130);
    await vi.waitUntil(() => !children.some(isAlive), { timeout: PATIENCE_MS });
    expect(await demo.leftFiles()).toEqual([]);
    expect(demo.output()).toContain("everything that the demo started is ended");
  });

  test("that is interrupted while its server is being obtained leaves no process behind", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-slow-cli-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const slowCli = join(folder, "temporal");
    await writeFile(
      slowCli,
      `#!/bin/sh\necho $$ > ${folder}/started\nmv ${folder}/started ${folder}/pid\nexec sleep 60\n`,
    );
    await chmod(slowCli, 0o755);
    const demo = await demoProcess([], { TEMPORAL_CLI_PATH: slowCli });
    const pid = Number(
      await vi.waitUntil(() => readFile(join(folder, "pid"), "utf8").catch(() => ""), { timeout: PATIENCE_MS }),
    );
    expect(isAlive(pid)).toBe(true);
    demo.interrupt();
    expect(await demo.ended()).toBe(130);
    await vi.waitUntil(() => !isAlive(pid), { timeout: PATIENCE_MS });
  });

  test("with --keep runs until it is interrupted, and prints how to go on", async () => {
    const demo = await demoProcess(["--keep"]);
    await demo.says(/The simulator's books: .*\n/);
    const [, booksUrl = ""] = /The simulator's books: (\S+)/.exec(demo.output()) ?? [];
    const books = (await (await fetch(booksUrl)).json()) as Books;
    expect(books.documents).toHaveLength(10);
    expect(demo.output()).toMatch(/export TEMPORAL_ADDRESS=127\.0\.0\.1:\d+/);
    expect(demo.output()).toContain("npx fiscalflow sale start - --wait");
    const env = Object.fromEntries(
      [...demo.output().matchAll(/^ {2}export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(await fiscalflow(["doctor"], env)).toMatch(/^✓ callbacks: delivered to 127\.0\.0\.1:\d+;/m);
    expect(await fiscalflow(["items", "register", "--wait"], env)).toContain("12 registered already, 1 lacks data");
    expect(await fiscalflow(["batch", "process", "batch_2026_11_21", "--wait"], env)).toContain(
      "No bill payment is left to be processed.",
    );
    const report = JSON.parse(await fiscalflow(["report", "day", "--json"], env)) as Report;
    const today = books.documents.filter(
      ({ status, saleDate }) => status === "completed" && saleDate === report.period.from,
    );
    const total = today.reduce((sum, { totals }) => sum + Math.round(totals.total * 100), 0);
    expect(report.businesses.map(({ net }) => Number(net.total) * 100)).toEqual([expect.closeTo(total, 5)]);
    expect(demo.output()).toMatch(/^http:\S+\/workflows\/sale%2Fdefault%2Fbiz_demo%2FDUKA-1009$/m);
    const [, resolve = ""] = /fiscalflow (sale resolve-stock .* --applied) --note/.exec(demo.output()) ?? [];
    await fiscalflow([...resolve.split(" "), "--note", "the balance fell by 5"], env);
    expect(await fiscalflow(["sale", "list", "--attention", "--json"], env)).toBe("[]\n");
    const children = await demo.children();
    demo.interrupt();
    expect(await demo.ended()).toBe(0);
    await vi.waitUntil(() => !children.some(isAlive), { timeout: PATIENCE_MS });
  });

  test("without an obtainable Temporal server says so once, and ends with 1", async () => {
    const demo = await demoProcess([], { TEMPORAL_CLI_PATH: "/nowhere/temporal" });
    expect(await demo.ended()).toBe(1);
    expect(demo.output()).toMatch(/^No Temporal CLI could be had/m);
    expect(demo.output()).toContain("spawn /nowhere/temporal ENOENT");
  });
});

/** The second act: what has no sale of its own, by the commands that anybody can type, and the day's report. */
async function expectBackOffice(demo: DemoProcess): Promise<void> {
  const [, ...said] = demo.output().split("\n$ npx fiscalflow ");
  expect(said.map((text) => text.split("\n").slice(0, 2).join(" -> "))).toEqual([
    "items register --wait -> 2 registered, 10 registered already, 1 lacks data",
    expect.stringMatching(/^purchases sync --wait -> .* 7 new, 0 changed, 1 finding$/),
    expect.stringMatching(/^bill-payments sync --wait -> .* 8 new, /),
    "batch process batch_2026_11_20 --wait -> batch_2026_11_20 was processed: 8 bill payments were processed.",
    "reconcile --wait -> 10 documents checked: 10 final and the same, 0 different, 0 unreadable; 0 skipped, final and the same when last checked; 4 findings.",
    expect.stringMatching(/^ledger verify -> .*: unaltered: \d+ events/),
    expect.stringMatching(/^report day --out \S+\.html -> /),
  ]);
  expect(demo.output()).toContain("The ledger holds 7: 2 confirmed, 1 pending_review, 3 pulled, 1 rejected.");
  expect(demo.output()).toContain("The ledger holds 8: 1 failed, 1 pending, 5 synced, 1 syncing.");
  expect(demo.output().match(/: unaltered: \d+ events/gm)).toHaveLength(2);
  // The page is all that is left, and loads nothing.
  const [page = "", ...more] = await demo.leftFiles();
  expect({ page, more }).toEqual({ page: expect.stringMatching(/^\.fiscalflow\/demo\/day-.*\.html$/), more: [] });
  expect(demo.output()).toMatch(/^The day's report: \/.*\/\.fiscalflow\/demo\/day-\S+\.html$/m);
  const html = await demo.read(page);
  expect(html).toContain("Maziwa (milk) 500 ml");
  expect(html).not.toMatch(/(src|href)=/);
}
