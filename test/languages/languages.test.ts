import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

import { findTemporalCli } from "../../src/servers/find-temporal-cli.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));
const NETWORK =
  /could not resolve|unknown host|name resolution|temporary failure|connection (refused|reset|timed out)|dial tcp|no route to host|network is unreachable/i;
/** The first run fetches an SDK and compiles it. */
const PREPARE_MS = 600_000;

interface Language {
  name: string;
  /** Its folder under `examples/`. */
  folder: string;
  /** Shows that the toolchain is there. */
  toolchain: readonly string[];
  /** Fetches what the example depends on, and compiles it. */
  prepare: readonly (readonly string[])[];
  run: (number: string) => readonly string[];
}

const LANGUAGES: readonly Language[] = [
  {
    name: "Python",
    folder: "python",
    toolchain: ["python3", "-m", "venv", "--help"],
    prepare: [
      ["python3", "-m", "venv", "venv"],
      ["venv/bin/pip", "install", "--quiet", "--requirement", "requirements.txt"],
    ],
    run: (number) => ["venv/bin/python", "sell_and_refund.py", number],
  },
  {
    name: "Go",
    folder: "go",
    toolchain: ["go", "version"],
    prepare: [["go", "build", "-mod=readonly", "-o", "sell-and-refund", "."]],
    run: (number) => ["./sell-and-refund", number],
  },
  {
    name: "Java",
    folder: "java",
    toolchain: ["mvn", "--version"],
    prepare: [["mvn", "--quiet", "--batch-mode", "compile"]],
    run: (number) => ["mvn", "--quiet", "--batch-mode", "exec:java", `-Dexec.args=${number}`],
  },
  {
    name: "the command line",
    folder: "cli",
    toolchain: ["jq", "--version"],
    prepare: [],
    run: (number) => ["./sell-and-refund.sh", number],
  },
];

interface Ran {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

describeWithTemporal("the examples in other languages", () => {
  let rig: Rig;
  let work: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    const { simulator } = JSON.parse(await readFile(join(EXAMPLES, "scenario.json"), "utf8")) as { simulator: unknown };
    const settings = { COMPLIANCE_API_KEY: "cmp_sk_test_demo", COMPLIANCE_BUSINESS_ID: "biz_demo" };
    rig = await startRig({ simulator: { scenario: simulator }, env: settings, receiver: false });
    work = await mkdtemp(join(tmpdir(), "fiscalflow-languages-"));
    const path = await findTemporalCli();
    env = {
      ...process.env,
      PATH: [dirname(path), process.env["PATH"]].join(delimiter),
      TEMPORAL_CONFIG_FILE: join(work, "none.toml"),
      TEMPORAL_ADDRESS: rig.address,
      TEMPORAL_NAMESPACE: rig.namespace,
    };
  });
  afterAll(async () => {
    await rig?.close();
    await rm(work, { recursive: true, force: true, maxRetries: 5 });
  });

  async function call([command = "", ...args]: readonly string[], cwd: string): Promise<Ran> {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const ran = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (ran.stdout += String(chunk)));
    child.stderr.on("data", (chunk: Buffer) => (ran.stderr += String(chunk)));
    const ended = once(child, "close").catch((error: unknown) => {
      ran.stderr += String(error);
      return [null];
    });
    const [exitCode] = (await ended) as [number | null];
    // Maven resets colours that it has not set.
    return { exitCode, stdout: stripVTControlCharacters(ran.stdout), stderr: ran.stderr };
  }

  /** Why it cannot be run here; with `CI` set, what is wrong with the example itself is an error. */
  async function skipReason({ toolchain, prepare }: Language, cwd: string): Promise<string | undefined> {
    if ((await call(toolchain, cwd)).exitCode !== 0) return `there is no ${toolchain[0] ?? ""} on this machine`;
    for (const step of prepare) {
      const { exitCode, stdout, stderr } = await call(step, cwd);
      const said = `${stdout}\n${stderr}`;
      if (exitCode === 0) continue;
      if (process.env["CI"] && !NETWORK.test(said)) throw new Error(`${step.join(" ")}: ${said}`);
      return `its SDK cannot be had: ${said.trim().split("\n").at(-1) ?? ""}`;
    }
    return undefined;
  }

  test.for(LANGUAGES)(
    "$name sells, cancels what needs an operator, and refunds; a second run finds the same documents",
    { timeout: PREPARE_MS },
    async (language, { skip }) => {
      const folder = join(work, language.folder);
      await cp(join(EXAMPLES, language.folder), folder, { recursive: true });
      const reason = await skipReason(language, folder);
      if (reason !== undefined) {
        process.stdout.write(`SKIPPED: the example in ${language.name}: ${reason}\n`);
        skip(reason);
      }
      const number = `DUKA-${language.folder.toUpperCase()}`;
      const first = await call(language.run(number), folder);
      expect(first.exitCode, `${first.stdout}${first.stderr}`).toBe(0);
      const receipt = rig.simulator.documents(number)[0]?.receipt?.cuInvoiceNo ?? "none";
      const lines = first.stdout.trimEnd().split(/\r?\n/);
      expect(lines).toEqual([
        `${number} is completed: receipt ${receipt}`,
        expect.stringMatching(new RegExp(`^${number}-X needs an operator: item-unknown, .*NO-SUCH`)),
        expect.stringMatching(/^cancel: Cancellation asked for\. Stage cancelled/),
        `${number} is credited: credit note CN-${number}`,
      ]);

      const second = await call(language.run(number), folder);
      expect(second.exitCode, `${second.stdout}${second.stderr}`).toBe(0);
      expect(second.stdout.trimEnd().split(/\r?\n/)).toEqual([
        `${number} is credited: receipt ${receipt}`,
        `${number} is credited: credit note CN-${number}`,
      ]);
      expect(rig.simulator.documents(number)).toHaveLength(1);
      expect(rig.simulator.documents(`CN-${number}`)).toHaveLength(1);
      expect(rig.simulator.documents(`${number}-X`)).toEqual([]);
    },
  );
});
