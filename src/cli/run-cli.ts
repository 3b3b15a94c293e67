/**
 * The command `fiscalflow`: it reads arguments, asks the starter, the ledger or a service, and prints. What the
 * commands do is elsewhere: sales in `src/starter/`, lists and reports in `src/ledger/books/`, processes in
 * `src/worker/`, the receiver of callbacks among them.
 *
 * Stands on: `src/accounting`, `src/compliance`, `src/config`, `src/contract`, `src/contract/schema`, `src/http`,
 * `src/ledger`, `src/payloads`, `src/receipt`, `src/servers`, `src/starter`, `src/worker`.
 */
import { Command, CommanderError } from "commander";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { plainText } from "../contract/plain-text.ts";
import { type CliContext, describeError, InterruptedError } from "./context.ts";
import { registerJobs } from "./jobs/register-jobs.ts";
import { registerLedger } from "./ledger/register-ledger.ts";
import { registerReceipt, registerReports } from "./register-outputs.ts";
import { registerDialect, registerProcesses } from "./register-processes.ts";
import { registerSale } from "./sale/register-sale.ts";

/** Adds commands that are none of the command line's own. */
type AddCommands = (program: Command, context: CliContext, run: typeof runCli) => void;

/**
 * The `fiscalflow` command: 0 done, 1 the work failed, 2 the call or the configuration was wrong, 130 or 143 a signal
 * interrupted it. Never throws, and never ends the process.
 * @param argv the arguments alone, without the executable and the script
 */
export async function runCli(argv: readonly string[], context: CliContext, add?: AddCommands): Promise<number> {
  try {
    const program = createProgram(context);
    add?.(program, context, runCli);
    await program.parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    // Commander has printed what was wrong. Help that was not asked for is a wrong call too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { signal, stderr } = context;
    const interruption = signal.reason instanceof InterruptedError ? signal.reason : new InterruptedError();
    // Node's own waits end with an AbortError of theirs.
    const isAbort = signal.aborted && (error === signal.reason || (error as Error).name === "AbortError");
    const { exitCode, message } = describeError(isAbort ? interruption : error);
    if (message !== "") stderr.write(`${message}\n`);
    return signal.aborted ? interruption.exitCode : exitCode;
  }
}

const HELP_WIDTH = 100;

/** The command line. What a command needs besides the options it loads when it runs. */
export function createProgram(context: CliContext): Command {
  const { stdout, stderr } = context;
  const program = new Command("fiscalflow")
    .description(
      "Carries sales through a tax-compliance API, on Temporal: nothing twice, nothing lost, nothing guessed.",
    )
    .version(packageVersion())
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? HELP_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      // It quotes the arguments as they are.
      outputError: (text, write) => write(plainText(text)),
    })
    .showHelpAfterError("(add --help to see what the command takes)")
    .addHelpText(
      "after",
      `
Results go to standard output, everything else to standard error.
Exit code: 0 done, 1 the work failed, 2 the call or the configuration was wrong.

Example: what is wrong with this installation, and what to do about it
  fiscalflow doctor`,
    );
  registerProcesses(program, context);
  registerDialect(program, context);
  registerSale(program, context);
  registerReceipt(program, context);
  registerJobs(program, context);
  registerReports(program, context);
  registerLedger(program, context);
  return program;
}

/** The package's version, from wherever this file runs: compiled in `dist`, or as it is. */
function packageVersion(from = fileURLToPath(import.meta.url)): string {
  for (let folder = dirname(from); dirname(folder) !== folder; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const manifest: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  }
  return "unknown";
}
