import type { Command } from "commander";

import { wholeNumber } from "../arguments.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { environmentLines } from "../environment-lines.ts";
import { untilAborted } from "../interruptible.ts";
import { printNote, printResult } from "../output.ts";
import { parseJson } from "../parse-json.ts";
import { readText } from "../read-text.ts";
import { registerSimulatorTriggers } from "./simulator-triggers.ts";

const DEFAULT_PORT = 4010;

interface SimulatorFlags {
  port: number;
  host: string;
  scenario?: string;
  limit?: number;
  windowMs?: number;
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
  registerSimulatorTriggers(simulator, context, `http://127.0.0.1:${DEFAULT_PORT}`);
}

async function runSimulator(context: CliContext, flags: SimulatorFlags): Promise<void> {
  const { startSimulator, scenarioSchema, accountingScenarioSchema, builtInScenario } =
    await import("../../dev/simulator/index.ts");
  const path = flags.scenario;
  const scenario = path === undefined ? undefined : parseJson(await readText(context, path), `the scenario ${path}`);
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
    const given = scenarioSchema.partial().safeParse(scenario).data;
    const { applications, businesses } = { ...builtInScenario, ...given };
    const key = applications.flatMap(({ keys }) => keys)[0]?.key;
    const [accounting] = (given?.accounting ?? accountingScenarioSchema.parse({})).applications;
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
