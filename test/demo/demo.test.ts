import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { demoProcess, isAlive } from "./demo-process.ts";

/** A sale that takes three seconds: the demo is in the middle of it. */
const IN_THE_MIDDLE = /DUKA-1002 .* awaiting-authority/;

describeWithTemporal("the demo", () => {
  test("ends with every example in its stage, and books that agree with its table", async () => {
    const demo = await demoProcess();
    expect({ exitCode: await demo.ended(), output: demo.output() }).toMatchObject({ exitCode: 0 });
    const rows = demo
      .output()
      .split("\n")
      .filter((line) => line.startsWith("│ DUKA-"))
      .map((line) => line.split("│").map((cell) => cell.trim()));
    expect(rows.map(([, invoice, , stage]) => `${invoice} ${stage}`)).toEqual([
      "DUKA-1001 completed",
      "DUKA-1002 completed",
      "DUKA-1003 completed",
      "DUKA-1004 completed",
      "DUKA-1005 completed",
      "DUKA-1006 completed",
      "DUKA-1007 credited",
      "DUKA-1008 completed",
    ]);
    for (const [, invoice, , , receipt, , , link] of rows) {
      expect(receipt).toMatch(/^NS \d+/);
      expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/namespaces/default/workflows/.*${invoice}$`));
    }
    expect(demo.output()).toContain("The simulator's books agree: 9 documents and 9 stock movements, each once.");
    expect(await demo.leftFiles()).toEqual([]);
  });

  test("that is interrupted in the middle leaves no process and no file behind", async () => {
    const demo = await demoProcess();
    await demo.says(IN_THE_MIDDLE);
    const children = await demo.children();
    expect(children.length).toBeGreaterThan(0);
    demo.interrupt();
    expect(await demo.ended()).toBe(130);
    await vi.waitUntil(() => !children.some(isAlive), { timeout: 10_000 });
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
      await vi.waitUntil(() => readFile(join(folder, "pid"), "utf8").catch(() => ""), { timeout: 20_000 }),
    );
    expect(isAlive(pid)).toBe(true);
    demo.interrupt();
    expect(await demo.ended()).toBe(130);
    await vi.waitUntil(() => !isAlive(pid), { timeout: 10_000 });
  });

  test("that is to keep everything runs until it is interrupted, and says how to start another sale", async () => {
    const demo = await demoProcess(["--keep"]);
    await demo.says(/The simulator's books: .*\n/);
    const [, booksUrl = ""] = /The simulator's books: (\S+)/.exec(demo.output()) ?? [];
    const books = (await (await fetch(booksUrl)).json()) as { documents: unknown[] };
    expect(books.documents).toHaveLength(9);
    expect(demo.output()).toMatch(/export TEMPORAL_ADDRESS=127\.0\.0\.1:\d+/);
    expect(demo.output()).toContain("npx fiscalflow sale start - --wait");
    const children = await demo.children();
    demo.interrupt();
    expect(await demo.ended()).toBe(0);
    await vi.waitUntil(() => !children.some(isAlive), { timeout: 10_000 });
  });

  test("that cannot have a server says so once, and ends with 1", async () => {
    const demo = await demoProcess([], { TEMPORAL_CLI_PATH: "/nowhere/temporal" });
    expect(await demo.ended()).toBe(1);
    expect(demo.output()).toMatch(/^No Temporal CLI could be had/);
    expect(demo.output()).toContain("/nowhere/temporal does not exist");
  });
});
