import { type SaleInput, type SaleOutcome, SETTLED_STAGES } from "../../contract/index.ts";
import { InvalidInputError, parseInput } from "../../contract/schema/parse-input.ts";
import { saleInputSchema } from "../../contract/schema/sale.ts";
import type { StartedSale } from "../../starter/index.ts";
import { type CliContext, CommandFailedError, describeError, inParallel, UsageError } from "../context.ts";
import { type Scope, scopeOf } from "../options.ts";
import { printNote, printResult } from "../output.ts";
import { readJson } from "../read-json.ts";
import { isUnsuccessful, outcomeLine, restartCommand, showCommand } from "./lines.ts";
import type { StartFlags } from "./register-sale.ts";
import { withSales } from "./with-sales.ts";

const CONCURRENCY = 10;

type Answered = StartedSale & { outcome?: SaleOutcome };
type Started = { invoice: string } & (Answered | { result: "failed"; error: string });

export async function startSales(context: CliContext, file: string, flags: StartFlags): Promise<void> {
  const { wait: waitSeconds = 0, json } = flags;
  const content = await readJson(context, file);
  const isList = Array.isArray(content);
  const sales = salesIn(isList ? content : [content], isList, flags);
  const results = await withSales(context, async ({ starter, requireServed, warn }) => {
    for (const input of sales) requireServed(scopeIn(input));
    const startOne = async (input: SaleInput): Promise<Started> => {
      const invoice = input.traderInvoiceNumber;
      try {
        const starting =
          waitSeconds === 0 ? starter.startSale(input) : starter.startSaleAndWait(input, { waitSeconds });
        return { invoice, ...(await starting) };
      } catch (error) {
        if (!isList) throw error;
        return { invoice, result: "failed", error: describeError(error).message };
      }
    };
    const all = await inParallel(sales, CONCURRENCY, startOne, context.signal);
    for (const [index, started] of all.entries())
      if (started.result !== "failed") {
        const { invoice, warnings } = started;
        warn(warnings, { invoice, ...scopeIn(sales[index]), sent: "the sale was sent" });
      }
    return all;
  });
  const failed = results.filter(isFailed).length;
  const lines = results.map(startedLine);
  if (isList) {
    printResult(context, json, results, lines.join("\n"));
    // Of sales that were waited for, those that are settled are told apart from those that go on.
    const open = results.filter((one) => !isFailed(one) && isUnderWay(one)).length;
    const all = `${results.length - failed - open} of ${results.length} sales succeeded`;
    printNote(context, open === 0 ? `${all}.` : `${all}, and ${open} ${open === 1 ? "is" : "are"} still under way.`);
  } else {
    const [only] = results;
    const target = { invoice: only?.invoice ?? "", ...scopeIn(sales[0]) };
    const needsRestart = only?.result === "closed" || (only?.result !== "failed" && only?.outcome?.closed);
    const next = needsRestart ? restartCommand(target) : showCommand(target.invoice, target);
    printResult(context, json, only, [...lines, `  next: ${next}`].join("\n"));
  }
  if (failed > 0) throw new CommandFailedError("");
}

function scopeIn(input: SaleInput | undefined): Scope {
  return scopeOf({ connection: input?.connection, business: input?.businessId });
}

/**
 * The sales of a file, with what the flags say of their connection and business. All are checked before any is started.
 * @throws InvalidInputError with every problem, UsageError
 */
function salesIn(entries: readonly unknown[], isList: boolean, scope: Scope): SaleInput[] {
  if (entries.length === 0) throw new UsageError("The list of sales is empty: there is nothing to start.");
  const problems: string[] = [];
  const sales = entries.flatMap((entry, index): SaleInput[] => {
    const place = isList ? `[${index}].` : "";
    try {
      return [parseInput(saleInputSchema, scoped(entry, scope, problems, place), "sale input")];
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      problems.push(...error.problems.map((problem) => `${place}${problem}`));
      return [];
    }
  });
  if (problems.length > 0) throw new InvalidInputError("sale input", problems);
  return sales;
}

/** The flags fill in what the file leaves open; a file that says otherwise was meant for somewhere else. */
function scoped(entry: unknown, { connection, business }: Scope, problems: string[], place: string): unknown {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return entry;
  const sale: Record<string, unknown> = { ...entry };
  for (const [field, flag, value] of [
    ["connection", "--connection", connection],
    ["businessId", "--business", business],
  ] as const) {
    if (value === undefined) continue;
    if (sale[field] !== undefined && sale[field] !== value)
      problems.push(`${place}${field}: expected ${JSON.stringify(value)}, as ${flag} says; the file says otherwise`);
    sale[field] ??= value;
  }
  return sale;
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

function isUnderWay(started: Started): boolean {
  return (
    started.result !== "failed" && started.outcome !== undefined && !SETTLED_STAGES.includes(started.outcome.stage)
  );
}

function isFailed(started: Started): boolean {
  if (started.result === "failed" || started.result === "closed") return true;
  return started.outcome !== undefined && isUnsuccessful(started.outcome);
}
