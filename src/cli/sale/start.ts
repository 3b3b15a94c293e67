import type { Command } from "commander";

import { type SaleInput, type SaleOutcome, SETTLED_STAGES } from "../../contract/index.ts";
import type { StartedSale } from "../../starter/index.ts";
import { waitSeconds } from "../arguments.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { describeError } from "../describe-error.ts";
import { printNote, printResult } from "../output.ts";
import { parseJson } from "../parse-json.ts";
import { readText } from "../read-text.ts";
import { inParallel } from "./in-parallel.ts";
import { readSales } from "./read-sales.ts";
import { restartCommand, showCommand } from "./command-lines.ts";
import { isUnsuccessful, outcomeLine } from "./render-document.ts";
import { type ResultFlags, type Scope, scopeOf, withScope } from "./scope.ts";

const DEFAULT_WAIT_SECONDS = 60;
const CONCURRENCY = 10;

interface StartFlags extends Scope, ResultFlags {
  wait?: true | number;
}

type Started = { invoice: string } & ((StartedSale & { outcome?: SaleOutcome }) | { result: "failed"; error: string });

export function registerStart(sale: Command, context: CliContext): void {
  withScope(
    sale
      .command("start")
      .description(
        "Start the sale in a JSON file, or every sale of a list. Starting the same sale twice gives one sale.",
      )
      .argument("<file>", "the file; - reads standard input")
      .option("--wait [seconds]", `wait for the outcome (default: ${DEFAULT_WAIT_SECONDS})`, waitSeconds),
  )
    .addHelpText(
      "after",
      `
Every sale of a list is checked before the first is started. With --wait, a sale that is cancelled, or needs an operator before its
document is completed, ends the command with 1; one that is still under way then goes on by itself, and fails nothing.

Example:
  echo '{"traderInvoiceNumber":"INV-1001","lines":[{"sku":"TEA-500","quantity":2,"unitPrice":350}]}' |
    fiscalflow sale start - --wait`,
    )
    .action((file: string, flags: StartFlags) => startSales(context, file, flags));
}

async function startSales(context: CliContext, file: string, flags: StartFlags): Promise<void> {
  const text = await readText(context, file);
  const { sales, isList } = readSales(parseJson(text, file === "-" ? "Standard input" : file), flags);
  const seconds = flags.wait === undefined ? 0 : flags.wait === true ? DEFAULT_WAIT_SECONDS : flags.wait;
  const { withSales } = await import("./with-sales.ts");
  const { troubleNotes } = await import("./trouble-notes.ts");
  const results = await withSales(context, async (known) => {
    const { starter } = known;
    const scopeOfSale = ({ connection, businessId }: SaleInput): Scope => ({
      ...(connection !== undefined && { connection }),
      ...(businessId !== undefined && { business: businessId }),
    });
    for (const input of sales) known.requireServed(scopeOfSale(input));
    const keyOf = (input: SaleInput) => known.keyOf(input.traderInvoiceNumber, scopeOfSale(input));
    const notes = troubleNotes(context, known);
    const startOne = async (input: SaleInput): Promise<Started> => {
      const invoice = input.traderInvoiceNumber;
      try {
        if (seconds === 0) return { invoice, ...(await starter.startSale(input)) };
        const started = starter.startSaleAndWait(input, { waitSeconds: seconds });
        return { invoice, ...(await notes.during(keyOf(input), started)) };
      } catch (error) {
        if (!isList) throw error;
        return { invoice, result: "failed", error: describeError(error, { withStack: false }).message };
      }
    };
    const all = await inParallel(sales, CONCURRENCY, startOne, context.signal);
    for (const [index, started] of all.entries()) {
      const { connection } = sales[index] ?? {};
      const about = { invoice: started.invoice, ...(connection !== undefined && { connection }) };
      if (started.result !== "failed") known.warn(started.warnings, { ...about, sent: "the sale was sent" });
    }
    return all;
  });
  const lines = results.map(startedLine);
  const [only] = results;
  const [input] = sales;
  if (!isList && only && only.result !== "failed" && input) lines.push(`  next: ${nextCommand(only, input)}`);
  printResult(context, flags.json, isList ? results : only, lines.join("\n"));
  const failed = results.filter(isFailed).length;
  if (isList) printNote(context, tally(results, failed));
  if (failed > 0) throw new CommandFailedError("");
}

/** Of sales that were waited for, those that are settled are told apart from those that go on. */
function tally(results: readonly Started[], failed: number): string {
  const open = results.filter((one) => !isFailed(one) && one.result !== "failed" && isUnderWay(one.outcome)).length;
  const all = `${results.length - failed - open} of ${results.length} sales succeeded`;
  return open === 0 ? `${all}.` : `${all}, and ${open} ${open === 1 ? "is" : "are"} still under way.`;
}

function isUnderWay(outcome: SaleOutcome | undefined): boolean {
  return outcome !== undefined && !SETTLED_STAGES.includes(outcome.stage);
}

const HOW: Readonly<Record<StartedSale["result"], string>> = {
  started: "started",
  known: "was there already, with the same content",
  closed: "was there already, and its workflow ended without an outcome: nothing carries it on until it is restarted",
};

function startedLine(started: Started): string {
  if (started.result === "failed") return `${started.invoice}: failed: ${started.error}`;
  const outcome = started.outcome ? `; ${outcomeLine(started.outcome)}` : "";
  return `${started.invoice}: ${HOW[started.result]} (${started.workflowId})${outcome}`;
}

/** What whoever started it is likely to want to run now. */
function nextCommand(
  { invoice, result, outcome }: Exclude<Started, { result: "failed" }>,
  { connection, businessId: business }: SaleInput,
): string {
  const scope = scopeOf({ connection, business });
  return result === "closed" || outcome?.closed ? restartCommand({ ...scope, invoice }) : showCommand(invoice, scope);
}

function isFailed(started: Started): boolean {
  if (started.result === "failed" || started.result === "closed") return true;
  return started.outcome !== undefined && isUnsuccessful(started.outcome);
}
