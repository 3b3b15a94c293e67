/**
 * The commands for development, `demo` and `simulator`. Those of the product are in `src/cli/`; the executable hands in
 * how to run one, so that nothing here imports them.
 *
 * Stands on: `src/contract`, `src/dev/demo`, `src/dev/simulator`.
 */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { Argument, type Command, InvalidArgumentError } from "commander";

import { plainText } from "../contract/plain-text.ts";
import type { DemoContext } from "./demo/run-demo.ts";
import { exportLines } from "./export-lines.ts";
import type { ActiveFault } from "./simulator/faults.ts";
import { BY_INVOICE, type TriggerOptions, TRIGGERS } from "./simulator/triggers.ts";

const DEFAULT_PORT = 4010;
const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;
const ANSWER_MS = 10_000;
const TROUBLES = Object.keys(TRIGGERS);

type DevContext = Omit<DemoContext, "command">;

/** Runs a command of the product. @returns its exit code */
type RunCommand = (
  argv: readonly string[],
  context: Pick<DevContext, "env" | "signal"> & {
    readonly stdin: Readable;
    readonly stdout: Pick<Writable, "write">;
    readonly stderr: Pick<Writable, "write">;
  },
) => Promise<number>;

/** `demo` and `simulator`, for development and to practise. */
export function addDevCommands(program: Command, context: DevContext, run: RunCommand): void {
  program
    .command("demo")
    .description("Start everything on this machine, run the example sales and the back office, and show them.")
    .option("--keep", "leave everything running until Ctrl-C, and print commands to try")
    .option("--examples <folder>", "your own sales and their scenario.json (default: the package's examples)")
    .addHelpText(
      "after",
      `
Brings its own Temporal server with its UI, unless TEMPORAL_ADDRESS names one. All other settings of the
environment are left aside: the demo reaches nothing but its own simulator.
Exit code: 0 when everything ended as it should and the simulator's books agree, else 1.

Example: look around in Temporal's UI afterwards
  fiscalflow demo --keep`,
    )
    .action((flags: DemoFlags) => startDemo(context, run, flags));
  const simulator = program
    .command("simulator")
    .description(
      "Run the tax-compliance API and the accounting service as their documents describe them, in memory, until Ctrl-C.",
    )
    .option("--port <number>", "the port to listen on; 0 takes any free port", parsePort, DEFAULT_PORT)
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option(
      "--scenario <file>",
      "a JSON file: applications and keys, businesses, items, the tax authority's behaviour, bill payments",
    )
    .option("--json", "print the address as JSON")
    .addHelpText(
      "after",
      `
It forgets everything when it ends. \`fiscalflow simulator trigger\` has it make trouble. Its books are under
/_simulator/books, and controls for tests beside them.

Example:
  fiscalflow simulator --port 4010`,
    )
    .action((flags: SimulatorFlags) => runSimulator(context, flags, (problem) => simulator.error(problem)));
  const where = (command: Command): Command =>
    command
      .option("--url <url>", `the simulator's address (default: COMPLIANCE_BASE_URL, else ${DEFAULT_URL})`)
      .option("--json", "print the result as JSON");
  where(simulator.command("trigger"))
    .description("Have a running simulator make trouble: a rejection, a lost answer, a refused key.")
    .addArgument(new Argument("<trouble>", "what is to happen; see below").choices(TROUBLES))
    .option("--invoice <number>", `only the document with this number; for ${BY_INVOICE.join(", ")}`)
    .addHelpText(
      "after",
      `
Trouble:
${Object.entries(TRIGGERS)
  .map(([name, { help, fault }]) => `  ${name.padEnd(18)}${help} (${timesText(fault.times)})`)
  .join("\n")}

It is added to what is set already. \`fiscalflow simulator end\` ends it.

Example: this sale needs an operator, whichever is started first
  fiscalflow simulator trigger rejected --invoice INV-1001`,
    )
    .action((name: string, flags: Where & TriggerOptions) => runTrigger(context, name, flags));
  where(simulator.command("end"))
    .description("End the trouble that a running simulator makes.")
    .addArgument(new Argument("[trouble]", "which; without it, all").choices(TROUBLES))
    .addHelpText("after", "\nExample:\n  fiscalflow simulator end credentials")
    .action((name: string | undefined, flags: Where) => runEnd(context, name, flags));
}

function parsePort(value: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("Expected a whole number from 0 to 65535.");
}

function print({ stdout }: DevContext, json: boolean | undefined, data: unknown, text: string): void {
  stdout.write(`${json ? JSON.stringify(data, null, 2) : plainText(text)}\n`);
}

interface DemoFlags {
  keep?: boolean;
  examples?: string;
}

async function startDemo(context: DevContext, run: RunCommand, { keep = false, examples }: DemoFlags): Promise<void> {
  const { runDemo } = await import("./demo/run-demo.ts");
  const { signal } = context;
  const command = async (argv: readonly string[], env: NodeJS.ProcessEnv) => {
    const [stdout, stderr] = [new Collector(), new Collector()];
    const exitCode = await run(argv, { env, stdin: Readable.from([]), stdout, stderr, signal });
    signal.throwIfAborted();
    return { succeeded: exitCode === 0, stdout: stdout.text, stderr: stderr.text };
  };
  const isAsMeant = await runDemo({ keep, examples: examples && resolve(examples) }, { ...context, command }).catch(
    (error: unknown) => {
      throw signal.aborted ? new Error("Interrupted: everything that the demo started is ended.") : error;
    },
  );
  if (!isAsMeant) throw new Error("The demo ended otherwise than it should have.");
}

class Collector {
  text = "";

  write(piece: unknown, written?: unknown): boolean {
    this.text += String(piece);
    if (typeof written === "function") written();
    return true;
  }
}

interface SimulatorFlags {
  port: number;
  host: string;
  scenario?: string;
  json?: boolean;
}

/** @param refuse says what is wrong with the scenario, and ends the command */
async function runSimulator(
  context: DevContext,
  { host, port, scenario: path, json }: SimulatorFlags,
  refuse: (problem: string) => never,
): Promise<void> {
  const { parseScenario, startSimulator } = await import("./simulator/index.ts");
  const read = async () => parseScenario(path && JSON.parse(await readFile(path, "utf8")));
  const scenario = await read().catch((error: unknown) =>
    refuse(error instanceof Error ? error.message : String(error)),
  );
  const simulator = await startSimulator({ host, port, scenario }).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!/^E[A-Z]+$/.test(code)) throw error;
    throw new Error(
      `The simulator cannot listen on ${host}, port ${port} (${code}). Choose another with --port, or 0 for any that is free.`,
      { cause: error },
    );
  });
  try {
    const { applications, businesses, accounting: services } = scenario;
    const key = applications.flatMap(({ keys }) => keys)[0]?.key;
    const [accounting] = services.applications;
    const env = {
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: key,
      COMPLIANCE_BUSINESS_ID: businesses[0]?.id,
      COMPLIANCE_BUSINESSES: businesses.length > 1 ? businesses.map(({ id }) => id).join(",") : undefined,
      ACCOUNTING_BASE_URL: simulator.accounting.url,
      ACCOUNTING_API_KEY: accounting?.keys[0],
      ACCOUNTING_CLIENT_SECRET: accounting?.clientSecret ?? undefined,
    };
    print(context, json, { url: simulator.url, env }, exportLines(env).join("\n"));
    context.stderr.write(
      `The simulator listens at ${simulator.url}; the lines above set what a worker needs. Ctrl-C ends it.\n`,
    );
    if (!context.signal.aborted) await once(context.signal, "abort");
  } finally {
    await simulator.close();
  }
}

interface Where {
  url?: string;
  json?: boolean;
}

async function runTrigger(context: DevContext, name: string, { url, json, ...options }: Where & TriggerOptions) {
  const { id, done } = await control<{ id: number; done: string }>(context, url, "trigger", name, options);
  print(context, json, { id, trigger: name, ...options }, done);
  context.stderr.write(`To end it before: fiscalflow simulator end ${name}\n`);
}

async function runEnd(context: DevContext, name: string | undefined, { url, json }: Where): Promise<void> {
  const ended = await control<ActiveFault[]>(context, url, "clearFaults", ...(name === undefined ? [] : [name]));
  const lines = ended.map(({ trigger, kind, struck }) => {
    return `${trigger ?? kind}: ended; it struck ${struck === 0 ? "nothing" : timesText(struck)}.`;
  });
  print(context, json, { ended }, lines.length > 0 ? lines.join("\n") : "Nothing was set.");
}

function timesText(times: number | undefined): string {
  if (times === undefined) return "until it is ended";
  return times === 1 ? "once" : `${times} times`;
}

/** One of the simulator's controls. Without a key: what listens there may be the service itself. */
async function control<Answer>(
  { env, signal }: DevContext,
  given: string | undefined,
  name: string,
  ...args: readonly unknown[]
): Promise<Answer> {
  const url = given ?? (env["COMPLIANCE_BASE_URL"] || DEFAULT_URL);
  const noSimulator = (cause?: unknown): Error =>
    new Error(
      `No simulator answers at ${url}. Start one with \`fiscalflow simulator\` or \`fiscalflow demo --keep\`, and name its address with --url.`,
      { cause },
    );
  if (!URL.canParse(url)) throw noSimulator();
  const response = await fetch(new URL(`/_simulator/${name}`, url), {
    method: "POST",
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    headers: { "content-type": "application/json" },
    body: JSON.stringify(args),
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw noSimulator(cause);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer as Answer;
  const { error } = Object(answer) as { error?: { message?: unknown } };
  throw response.status === 400 && typeof error?.message === "string" ? new Error(error.message) : noSimulator();
}
