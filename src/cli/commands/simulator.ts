import { Argument, type Command } from "commander";

import type { ActiveFault } from "../../dev/simulator/faults.ts";
import { BY_INVOICE, type TriggerOptions, TRIGGERS } from "../../dev/simulator/triggers.ts";
import { wholeNumber } from "../arguments.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { untilAborted } from "../interruptible.ts";
import { environmentLines, printNote, printResult } from "../output.ts";
import { readJson } from "../read-json.ts";

const DEFAULT_PORT = 4010;
const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;
const ANSWER_MS = 10_000;
const NAMES = Object.keys(TRIGGERS);

interface SimulatorFlags {
  port: number;
  host: string;
  scenario?: string;
  limit?: number;
  windowMs?: number;
  json?: boolean;
}

interface Where {
  url?: string;
  json?: boolean;
}

export function registerSimulator(program: Command, context: CliContext): void {
  const simulator = program
    .command("simulator")
    .description(
      "Run the tax-compliance API and the accounting service as their documents describe them, in memory, until Ctrl-C.",
    )
    .option("--port <number>", "the port to listen on; 0 takes any free port", wholeNumber(0, 65_535), DEFAULT_PORT)
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option(
      "--scenario <file>",
      "a JSON file: applications and keys, businesses, items, the tax authority's behaviour, bill payments",
    )
    .option("--limit <number>", "requests per window and application (default: 120)", wholeNumber(1, 1_000_000_000))
    .option("--window-ms <number>", "milliseconds of a window (default: 60000)", wholeNumber(1, 86_400_000))
    .option("--json", "print the address as JSON")
    .addHelpText(
      "after",
      `
It forgets everything when it ends. Its address in a browser shows what it holds and what trouble it can make, which
\`fiscalflow simulator trigger\` asks for too. Controls for tests are under /_simulator.

Example:
  fiscalflow simulator --port 4010 --limit 30`,
    )
    .action((flags: SimulatorFlags) => runSimulator(context, flags));

  const where = (command: Command): Command =>
    command
      .option("--url <url>", `the simulator's address (default: COMPLIANCE_BASE_URL, else ${DEFAULT_URL})`)
      .option("--json", "print the result as JSON");
  const trigger = simulator
    .command("trigger")
    .description("Have a running simulator make trouble: a rejection, a lost answer, a refused key.")
    .addArgument(new Argument("<trouble>", "what is to happen; see below").choices(NAMES))
    .option("--times <number>", "how often it strikes; default: see below", wholeNumber(1, 1_000_000))
    .option("--invoice <number>", `only the document with this number; for ${BY_INVOICE.join(", ")}`);
  where(trigger)
    .addHelpText(
      "after",
      `
Trouble:
${Object.entries(TRIGGERS)
  .map(([name, { help, fault }]) => `  ${name.padEnd(18)}${help} (${timesText(fault.times)})`)
  .join("\n")}

It is added to what is set already. \`fiscalflow simulator end\` ends it, and the simulator's page (its address in a
browser) shows it.

Example: this sale needs an operator, whichever is started first
  fiscalflow simulator trigger rejected --invoice INV-1001`,
    )
    .action((name: string, flags: Where & TriggerOptions) => runTrigger(context, name, flags));
  const end = simulator
    .command("end")
    .description("End the trouble that a running simulator makes.")
    .addArgument(new Argument("[trouble]", "which; without it, all").choices(NAMES));
  where(end)
    .addHelpText("after", "\nExample:\n  fiscalflow simulator end credentials")
    .action((name: string | undefined, flags: Where) => runEnd(context, name, flags));
}

async function runSimulator(context: CliContext, flags: SimulatorFlags): Promise<void> {
  const { parseScenario, startSimulator } = await import("../../dev/simulator/index.ts");
  const path = flags.scenario;
  const scenario = path === undefined ? undefined : await readJson(context, path, `the scenario ${path}`);
  const { host, port, limit, windowMs } = flags;
  const simulator = await startSimulator({
    host,
    port,
    scenario,
    ...(limit !== undefined && { limitPerWindow: limit }),
    ...(windowMs !== undefined && { windowMs }),
  }).catch((error: unknown) => {
    throw portError(error, host, port);
  });
  try {
    const { applications, businesses, accounting: services } = parseScenario(scenario);
    const key = applications.flatMap(({ keys }) => keys)[0]?.key;
    const [accounting] = services.applications;
    const accountingKey = accounting?.keys[0];
    const env = {
      COMPLIANCE_BASE_URL: simulator.url,
      ...(key !== undefined && { COMPLIANCE_API_KEY: key }),
      ...(businesses[0] && { COMPLIANCE_BUSINESS_ID: businesses[0].id }),
      ...(businesses.length > 1 && { COMPLIANCE_BUSINESSES: businesses.map(({ id }) => id).join(",") }),
      ACCOUNTING_BASE_URL: simulator.accounting.url,
      ...(accountingKey !== undefined && { ACCOUNTING_API_KEY: accountingKey }),
      ...(accounting?.clientSecret && { ACCOUNTING_CLIENT_SECRET: accounting.clientSecret }),
    };
    printResult(context, flags.json, { url: simulator.url, env }, environmentLines(env).join("\n"));
    printNote(
      context,
      `The simulator listens at ${simulator.url}, which is also its page; the lines above set what a worker needs. Ctrl-C ends it.`,
    );
    await untilAborted(context.signal);
  } finally {
    await simulator.close();
  }
}

function portError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^E[A-Z]+$/.test(code)) return error;
  return new CommandFailedError(
    `The simulator cannot listen on ${host}, port ${port} (${code}). Choose another with --port, or 0 for any that is free.`,
    { cause: error },
  );
}

async function runTrigger(context: CliContext, name: string, { url, json, ...options }: Where & TriggerOptions) {
  const { id, done } = await control<{ id: number; done: string }>(context, url, "trigger", name, options);
  printResult(context, json, { id, trigger: name, ...options }, done);
  printNote(context, `To end it before: fiscalflow simulator end ${name}`);
}

async function runEnd(context: CliContext, name: string | undefined, { url, json }: Where): Promise<void> {
  const ended = await control<ActiveFault[]>(context, url, "clearFaults", ...(name === undefined ? [] : [name]));
  const lines = ended.map(({ trigger, kind, struck }) => {
    return `${trigger ?? kind}: ended; it struck ${struck === 0 ? "nothing" : timesText(struck)}.`;
  });
  printResult(context, json, { ended }, lines.length > 0 ? lines.join("\n") : "Nothing was set.");
}

function timesText(times: number | undefined): string {
  if (times === undefined) return "until it is ended";
  return times === 1 ? "once" : `${times} times`;
}

/** One of the simulator's controls. Without a key: what listens there may be the service itself. */
async function control<Answer>(
  { env, signal }: CliContext,
  given: string | undefined,
  name: string,
  ...args: readonly unknown[]
): Promise<Answer> {
  const url = given ?? (env["COMPLIANCE_BASE_URL"] || DEFAULT_URL);
  const noSimulator = (cause?: unknown): CommandFailedError =>
    new CommandFailedError(
      `No simulator answers at ${url}. Start one with \`fiscalflow simulator\` or \`fiscalflow demo --keep\`, and name its address with --url.`,
      { cause },
    );
  if (!URL.canParse(url))
    throw new CommandFailedError(`"${url}" is no URL. Expected the simulator's address, such as ${DEFAULT_URL}.`);
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
  if (response.status === 400 && typeof error?.message === "string") throw new CommandFailedError(error.message);
  throw noSimulator();
}
