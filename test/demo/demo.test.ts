import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { type DemoProcess, demoProcess, fiscalflow, isAlive } from "./demo-process.ts";

/** A sale that takes three seconds: the demo is in the middle of it. */
const IN_THE_MIDDLE = /DUKA-1002 .* awaiting-authority/;

describeWithTemporal("the demo", () => {
  test("ends with every example in its stage, all back-office jobs done, and books that agree with its tables", async () => {
    const demo = await demoProcess();
    expect({ exitCode: await demo.ended(), output: demo.output() }).toMatchObject({ exitCode: 0 });
    const rows = rowsOf(demo.output(), /^│ DUKA-/);
    expect(rows.map(([, invoice, , stage]) => `${invoice} ${stage}`)).toEqual([
      "DUKA-1001 completed",
      "DUKA-1002 completed",
      "DUKA-1003 completed",
      "DUKA-1004 completed",
      "DUKA-1005 completed",
      "DUKA-1006 completed",
      "DUKA-1007 credited",
      "DUKA-1008 completed",
      "DUKA-1009 completed; needs an operator, as meant",
    ]);
    for (const [, invoice, , , receipt, , , link] of rows) {
      expect(receipt).toMatch(/^NS \d+/);
      expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/namespaces/default/workflows/.*${invoice}$`));
    }
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
    const books = (await (await fetch(booksUrl)).json()) as { documents: unknown[] };
    expect(books.documents).toHaveLength(10);
    expect(demo.output()).toMatch(/export TEMPORAL_ADDRESS=127\.0\.0\.1:\d+/);
    expect(demo.output()).toContain("npx fiscalflow sale start - --wait");
    const env = Object.fromEntries(
      [...demo.output().matchAll(/^ {2}export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
    );
    const commands = [...demo.output().matchAll(/^ {2}npx fiscalflow (?!reconcile|sale|simulator)(\S.*)$/gm)].map(
      ([, words = ""]) => words,
    );
    expect(commands).toEqual([
      "items register --wait",
      "purchases sync --wait",
      "bill-payments sync --wait",
      "batch process batch_2026_11_21 --wait",
      "report day",
      "ledger verify",
    ]);
    const answers = new Map<string, string>();
    for (const command of commands) answers.set(command, await fiscalflow(command.split(" "), env));
    expect(await fiscalflow(["doctor"], env)).toMatch(/^✓ callbacks: delivered to 127\.0\.0\.1:\d+;/m);
    expect(answers.get("items register --wait")).toContain("12 registered already, 1 lacks data");
    expect(answers.get("batch process batch_2026_11_21 --wait")).toContain("No bill payment is left to be processed.");
    expect(answers.get("report day")).toContain("Maziwa (milk) 500 ml");
    expect(answers.get("ledger verify")).toMatch(/^default\/biz_demo: unaltered: /m);
    expect(demo.output()).toMatch(/^ {2}http:\S+\/workflows\/sale%2Fdefault%2Fbiz_demo%2FDUKA-1009$/m);
    expect(demo.output()).toMatch(
      /^ {2}needs an operator {2,}http:\S+\/workflows\?query=FiscalAttention%20IS%20NOT%20NULL/m,
    );
    const [, resolve = ""] = /^ {2}npx fiscalflow (sale resolve-stock .* --applied) --note/m.exec(demo.output()) ?? [];
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
    expect(demo.output()).toContain("/nowhere/temporal does not exist");
  });
});

/** The cells of the table rows that match. */
function rowsOf(output: string, which: RegExp): string[][] {
  const rows = output.split("\n").filter((line) => which.test(line));
  return rows.map((line) => line.split("│").map((cell) => cell.trim()));
}

/** The second act: what has no sale of its own, the day's report, and a ledger that agrees with the books. */
async function expectBackOffice(demo: DemoProcess): Promise<void> {
  const rows = rowsOf(demo.output(), /^│ (register|sync|process|reconcile)/);
  expect(rows.map(([, workflow, came]) => `${workflow}: ${came}`)).toEqual([
    "registerItems: 2 registered, 10 registered already, 1 lacks data",
    expect.stringMatching(/^syncPurchases: .* 7 new, 0 changed$/),
    expect.stringMatching(/^syncBillPayments: .* 8 new, /),
    "processSyncBatch: batch_2026_11_20 was processed: 8 bill payments were processed.",
    "reconcile: 10 documents checked: 10 final and the same, 0 different, 0 unreadable; 0 skipped, final and the same when last checked.",
  ]);
  for (const [, , , , , link] of rows)
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\//);
  expect(demo.output()).toContain("The ledger holds 7: 2 confirmed, 1 pending_review, 3 pulled, 1 rejected.");
  expect(demo.output()).toContain("The ledger holds 8: 1 failed, 1 pending, 5 synced, 1 syncing.");
  expect(demo.output().match(/^The ledger, .*: unaltered: \d+ events/gm)).toHaveLength(2);
  expect(demo.output()).toContain(
    "The ledger and the simulator's books agree: 13 items, 7 purchases, 8 bill payments, 1 sync batch, and the report's totals to the cent.",
  );
  // The page is all that is left, and loads nothing.
  const [page = "", ...more] = await demo.leftFiles();
  expect({ page, more }).toEqual({ page: expect.stringMatching(/^\.fiscalflow\/demo\/day-.*\.html$/), more: [] });
  expect(demo.output()).toMatch(/^The day's report: \/.*\/\.fiscalflow\/demo\/day-\S+\.html$/m);
  const html = await demo.read(page);
  expect(html).toContain("Maziwa (milk) 500 ml");
  expect(html).not.toMatch(/(src|href)=/);
}
