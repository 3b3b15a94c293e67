import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { Client, type Connection } from "@temporalio/client";
import proto from "@temporalio/proto";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createPayloadCodec } from "../../src/payloads/codec.ts";
import { findTemporalCli } from "../../src/servers/find-temporal-cli.ts";
import { createCodecServer } from "../../src/worker/codec-server.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));
const VECTORS = fileURLToPath(new URL("../../docs/payload-vectors.json", import.meta.url));
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
  /** The shortest program, which starts a sale and waits for it. */
  sell?: (number: string) => readonly string[];
  /** Checks its codec by what is published; the command line has none: it asks a codec server. */
  checkCodec?: readonly string[];
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
    sell: (number) => ["venv/bin/python", "sell.py", number],
    checkCodec: ["venv/bin/python", "-m", "unittest"],
  },
  {
    name: "Go",
    folder: "go",
    toolchain: ["go", "version"],
    prepare: [["go", "build", "-mod=readonly", "-o", "sell-and-refund", "."]],
    run: (number) => ["./sell-and-refund", number],
    checkCodec: ["go", "test", "-mod=readonly", "."],
  },
  {
    name: "Java",
    folder: "java",
    toolchain: ["mvn", "--version"],
    prepare: [["mvn", "--quiet", "--batch-mode", "compile"]],
    run: (number) => ["mvn", "--quiet", "--batch-mode", "exec:java", `-Dexec.args=${number}`],
    checkCodec: ["mvn", "--quiet", "--batch-mode", "exec:java", "-Dexec.mainClass=CheckEncryptionCodec"],
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

const FISCALFLOW_PAYLOAD_KEYS = [5, 6].map((n) => `202${n}:${Buffer.alloc(32, n).toString("base64")}`).join(",");
const TOKEN = "a-token-of-at-least-32-characters-";
const SILENT = { warn: () => undefined, error: () => undefined };

let work: string;
const prepared = new Map<string, string | undefined>();
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "fiscalflow-languages-"));
  await mkdir(join(work, "docs"));
  await cp(VECTORS, join(work, "docs/payload-vectors.json"));
});
afterAll(() => rm(work, { recursive: true, force: true, maxRetries: 5 }));

const folderOf = ({ folder }: Language): string => join(work, "examples", folder);

async function call(
  [command = "", ...args]: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Ran> {
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
  const { env } = process;
  if ((await call(toolchain, { cwd, env })).exitCode !== 0) return `there is no ${toolchain[0] ?? ""} on this machine`;
  for (const step of prepare) {
    const { exitCode, stdout, stderr } = await call(step, { cwd, env });
    const said = `${stdout}\n${stderr}`;
    if (exitCode === 0) continue;
    if (process.env["CI"] && !NETWORK.test(said)) throw new Error(`${step.join(" ")}: ${said}`);
    return `its SDK cannot be had: ${said.trim().split("\n").at(-1) ?? ""}`;
  }
  return undefined;
}

/** Copies an example, and makes it ready, once. */
async function prepare(language: Language, skip: (reason: string) => void): Promise<void> {
  if (!prepared.has(language.folder)) {
    await cp(join(EXAMPLES, language.folder), folderOf(language), { recursive: true });
    prepared.set(language.folder, await skipReason(language, folderOf(language)));
  }
  const reason = prepared.get(language.folder);
  if (reason === undefined) return;
  process.stdout.write(`SKIPPED: the example in ${language.name}: ${reason}\n`);
  skip(reason);
}

async function startExamplesRig(more: Record<string, string> = {}): Promise<{ rig: Rig; env: NodeJS.ProcessEnv }> {
  const { simulator } = JSON.parse(await readFile(join(EXAMPLES, "scenario.json"), "utf8")) as { simulator: unknown };
  const settings = { COMPLIANCE_API_KEY: "cmp_sk_test_demo", COMPLIANCE_BUSINESS_ID: "biz_demo" };
  const rig = await startRig({
    simulator: { scenario: simulator },
    env: { ...settings, ...more },
    receiver: false,
  });
  const path = await findTemporalCli();
  const env = {
    ...process.env,
    PATH: [dirname(path), process.env["PATH"]].join(delimiter),
    TEMPORAL_CONFIG_FILE: join(work, "none.toml"),
    TEMPORAL_ADDRESS: rig.address,
    TEMPORAL_NAMESPACE: rig.namespace,
  };
  return { rig, env };
}

/** What the first run for a number prints. */
function firstLines(rig: Rig, number: string): unknown[] {
  const receipt = rig.simulator.documents(number)[0]?.receipt?.cuInvoiceNo ?? "none";
  return [
    `${number} is completed: receipt ${receipt}`,
    expect.stringMatching(/-X needs an operator: item-unknown, .*NO-SUCH/),
    expect.stringMatching(/^cancel: Cancellation asked for\. Stage cancelled/),
    `${number} is credited: credit note CN-${number}`,
  ];
}
const linesOf = ({ stdout }: Ran): string[] => stdout.trimEnd().split(/\r?\n/);

describeWithTemporal("the examples in other languages", () => {
  let rig: Rig;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => ({ rig, env } = await startExamplesRig()));
  afterAll(() => rig?.close());

  test.for(LANGUAGES)(
    "$name sells, cancels what needs an operator, and refunds; a second run finds the same documents",
    { timeout: PREPARE_MS },
    async (language, { skip }) => {
      await prepare(language, skip);
      // Each language has a list of its own of what a URI component may hold.
      const number = `DUKA-${language.folder.toUpperCase()}/(1)!*~`;
      const where = { cwd: folderOf(language), env };
      const first = await call(language.run(number), where);
      expect(first.exitCode, `${first.stdout}${first.stderr}`).toBe(0);
      expect(linesOf(first)).toEqual(firstLines(rig, number));

      const second = await call(language.run(number), where);
      expect(second.exitCode, `${second.stdout}${second.stderr}`).toBe(0);
      expect(linesOf(second)).toEqual([
        `${number} is credited: receipt ${rig.simulator.documents(number)[0]?.receipt?.cuInvoiceNo}`,
        `${number} is credited: credit note CN-${number}`,
      ]);
      expect(rig.simulator.documents(number)).toHaveLength(1);
      expect(rig.simulator.documents(`CN-${number}`)).toHaveLength(1);
      expect(rig.simulator.documents(`${number}-X`)).toEqual([]);
    },
  );

  test.for(LANGUAGES.filter(({ sell }) => sell))(
    "the shortest program in $name sells, and leaves it at that",
    { timeout: PREPARE_MS },
    async (language, { skip }) => {
      await prepare(language, skip);
      const number = `SOLD-${language.folder.toUpperCase()}`;
      const ran = await call(language.sell?.(number) ?? [], { cwd: folderOf(language), env });
      expect(ran.exitCode, `${ran.stdout}${ran.stderr}`).toBe(0);
      expect(linesOf(ran)).toEqual(firstLines(rig, number).slice(0, 1));
      expect(rig.simulator.documents(number)).toHaveLength(1);
      expect(rig.simulator.documents(`CN-${number}`)).toEqual([]);
    },
  );
});

describeWithTemporal("the examples in other languages, with payload keys", () => {
  let rig: Rig;
  let env: NodeJS.ProcessEnv;
  const codec = createPayloadCodec(FISCALFLOW_PAYLOAD_KEYS.split(","));
  const server = createCodecServer({ codec, token: () => TOKEN, origins: [], log: SILENT });
  beforeAll(async () => {
    ({ rig, env } = await startExamplesRig({ FISCALFLOW_PAYLOAD_KEYS }));
    const codecUrl = await server.listen({ host: "127.0.0.1", port: 0 });
    env = {
      ...env,
      FISCALFLOW_PAYLOAD_KEYS,
      TEMPORAL_CODEC_ENDPOINT: codecUrl,
      TEMPORAL_CODEC_AUTH: `Bearer ${TOKEN}`,
    };
  });
  afterAll(async () => {
    await server.close();
    await rig?.close();
  });

  /** All that Temporal has of a sale's runs. */
  async function keptOf(invoice: string): Promise<Buffer> {
    const plain = new Client({ connection: rig.client.connection as Connection, namespace: rig.namespace });
    const kept: Buffer[] = [];
    const query = `WorkflowId = "sale/default/biz_demo/${invoice}"`;
    for await (const { workflowId, runId } of plain.workflow.list({ query })) {
      const history = await plain.workflow.getHandle(workflowId, runId).fetchHistory();
      kept.push(Buffer.from(proto.temporal.api.history.v1.History.encode(history).finish()));
    }
    return Buffer.concat(kept);
  }

  test.for(LANGUAGES)(
    "$name encrypts as the workers do, and reads what they encrypt",
    { timeout: PREPARE_MS },
    async (language, { skip }) => {
      await prepare(language, skip);
      const [number, where] = [`SECRET-${language.folder.toUpperCase()}`, { cwd: folderOf(language), env }];
      const checked = await call(language.checkCodec ?? ["true"], where);
      expect(checked.exitCode, `${checked.stdout}${checked.stderr}`).toBe(0);
      const ran = await call(language.run(number), where);
      expect(ran.exitCode, `${ran.stdout}${ran.stderr}`).toBe(0);
      expect(linesOf(ran)).toEqual(firstLines(rig, number));
      const kept = await keptOf(number);
      expect(kept.includes("encryption-key-id")).toBe(true);
      for (const words of ["UNGA-2KG", "unitPrice", "waitSeconds", "cuInvoiceNo", "restock"])
        expect(kept.includes(words), words).toBe(false);
    },
  );
});
