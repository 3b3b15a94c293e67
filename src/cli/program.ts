/**
 * The command `fiscalflow`: it reads arguments, asks the starter, the ledger or a service, and prints. What the
 * commands do is elsewhere: sales in `src/starter/`, lists and reports in `src/ledger/books/`, processes in
 * `src/worker/`.
 */
import { Command } from "commander";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { registerDemo } from "./commands/demo.ts";
import { plainText } from "../contract/plain-text.ts";
import type { CliContext } from "./context.ts";
import { registerDialect } from "./dialect/register-dialect.ts";
import {
  registerBatch,
  registerBillPayments,
  registerItems,
  registerJobs,
  registerPurchases,
  registerReconcile,
} from "./jobs/register-jobs.ts";
import { registerEvents, registerLedger } from "./ledger/register-ledger.ts";
import { registerDocuments } from "./lists/register-lists.ts";
import { registerProcesses } from "./register-processes.ts";
import { registerReceipt } from "./receipt/register-receipt.ts";
import { registerReport } from "./report/register-report.ts";
import { registerSimulator } from "./commands/simulator.ts";
import { registerSale } from "./sale/register-sale.ts";

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
  registerDemo(program, context, createProgram);
  registerSimulator(program, context);
  registerProcesses(program, context);
  registerDialect(program, context);
  registerSale(program, context);
  registerReceipt(program, context);
  registerItems(program, context);
  registerPurchases(program, context);
  registerBillPayments(program, context);
  registerBatch(program, context);
  registerReconcile(program, context);
  registerJobs(program, context);
  registerReport(program, context);
  registerDocuments(program, context);
  registerEvents(program, context);
  registerLedger(program, context);
  nameSubcommands(program);
  return program;
}

/** Commander suggests what is spelled alike; where nothing is, the list of a group's commands helps. */
function nameSubcommands({ commands }: Command): void {
  for (const group of commands) {
    const names = group.commands.map((command) => command.name());
    if (names.length > 0) group.showHelpAfterError(`(commands: ${names.join(", ")}; add --help to see what each does)`);
    nameSubcommands(group);
  }
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
