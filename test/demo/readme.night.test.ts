import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

import { findTemporalCli } from "../../src/servers/find-temporal-cli.ts";
import { compileStrictly, createConsumer } from "../examples/consumer.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { demoProcess } from "./demo-process.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What has been done before the demo is there, and what runs until it is ended. */
const NOT_HERE = /^npm |^npx fiscalflow (worker|callbacks)\b/;

const run = promisify(execFile);

describeWithTemporal("the programs of the readme", () => {
  test("run as they stand beside a demo that is left running", async () => {
    const demo = await demoProcess(["--keep"]);
    const consumer = await createConsumer();
    onTestFinished(() => consumer.remove());
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const [, program = ""] = /^```ts\n([^]+?)^```/m.exec(readme) ?? [];
    await writeFile(join(consumer.folder, "readme.ts"), program);
    const options = { module: "node16", moduleResolution: "node16", outDir: "compiled", skipLibCheck: true };
    await compileStrictly(consumer.folder, ["readme.ts"], options);
    await demo.says(/The simulator's books: .*\n/);

    const exported = [...demo.output().matchAll(/^ {2}(export \w+=\S+)$/gm)].map(([, line]) => line);
    expect(exported.length).toBeGreaterThan(5);
    const cli = await findTemporalCli({ env: process.env });
    const env = {
      HOME: process.env["HOME"],
      PATH: [dirname(cli), process.env["PATH"]].join(delimiter),
      TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml",
      // What an earlier `npx` has linked there is of whatever was built then.
      npm_config_cache: join(consumer.folder, "npm-cache"),
    };
    /** By the shell that a reader has, with the variables that the demo has printed. */
    const shell = async (commands: string): Promise<string> => {
      const script = ["set -e", ...exported, commands].join("\n");
      // The message of the error itself is the script.
      return await run("sh", ["-c", script], { cwd: ROOT, env }).then(
        ({ stdout }) => stdout,
        ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => {
          throw new Error(`exit code ${code} after: ${stderr}${stdout}\nof: ${commands}`);
        },
      );
    };

    const blocks = [...readme.matchAll(/^```sh\n([^]+?)^```/gm)].map(([, block = ""]) => block);
    const said: string[] = [];
    for (const block of blocks) {
      const commands = block.split("\n").filter((line) => !NOT_HERE.test(line));
      if (commands.some((line) => line !== "")) said.push(await shell(commands.join("\n")));
    }
    const [ownSale = "", temporal = "", installation = ""] = said;
    expect(said).toHaveLength(3);
    expect(ownSale).toMatch(/^INV-1001: started .*; completed, /m);
    expect(ownSale).toContain("Credit note CN-1");
    expect(temporal).toContain("completed");
    expect(installation).toContain('The namespace "default" is ready.');

    const printed = await shell(`node ${join(consumer.folder, "compiled/readme.js")}`);
    expect(printed).toMatch(/^completed \S+\n$/);
    const [, booksUrl = ""] = /The simulator's books: (\S+)/.exec(demo.output()) ?? [];
    const { documents } = (await (await fetch(booksUrl)).json()) as {
      documents: { traderInvoiceNumber: string; status: string }[];
    };
    const own = documents.filter(({ traderInvoiceNumber }) => /^(INV|CN)-\d+$/.test(traderInvoiceNumber));
    expect(own.map(({ traderInvoiceNumber, status }) => `${traderInvoiceNumber} ${status}`).toSorted()).toEqual([
      "CN-1 completed",
      "CN-2 completed",
      "INV-1001 completed",
      "INV-1002 completed",
      "INV-1003 completed",
    ]);
  });
});
