import { type Command, Option } from "commander";

import { REFUND_REASONS } from "../../contract/index.ts";
import { waitSeconds } from "../arguments.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import { parseJson } from "../parse-json.ts";
import { readText } from "../read-text.ts";
import type { ShownCorrection } from "./correction-documents.ts";
import { attentionLines, correctionLines } from "./render-correction.ts";
import { parseInvoice, type ResultFlags, type Scope, scopeOf, withScope } from "./scope.ts";

const DEFAULT_WAIT_SECONDS = 60;

interface CorrectFlags extends Scope, ResultFlags {
  reason: string;
  number: string;
  date?: string;
  wait?: true | number;
}

export function registerCorrect(sale: Command, context: CliContext): void {
  const reasons = Object.entries(REFUND_REASONS).map(([code, meaning]) => `${code} ${meaning}`);
  withScope(
    sale
      .command("correct")
      .description("Credit a signed sale, and issue the corrected one. Asking twice gives one correction.")
      .argument("<invoice>", "the number of the sale to correct", parseInvoice)
      .argument("<file>", "the corrected sale, under a number of its own; - reads standard input")
      .addOption(
        new Option("--reason <code>", reasons.join(", ")).choices(Object.keys(REFUND_REASONS)).makeOptionMandatory(),
      )
      .requiredOption("--number <number>", "the credit note's own number")
      .option("--date <date>", "of the credit note: YYYY-MM-DD (default: today in Nairobi)")
      .option("--wait [seconds]", `wait until both are signed (default: ${DEFAULT_WAIT_SECONDS})`, waitSeconds),
  )
    .addHelpText(
      "after",
      `
The corrected sale is checked before anything is credited. The goods of the credited sale go back to stock, and the corrected sale takes
its own. Run the same command again to see where the correction stands. It ends with 1 where an operator is needed, or nothing is
corrected.

Example:
  fiscalflow sale correct INV-1001 corrected.json --reason 06 --number CN-1 --wait`,
    )
    .action((invoice: string, file: string, flags: CorrectFlags) => correctSale(context, invoice, file, flags));
}

async function correctSale(context: CliContext, invoice: string, file: string, flags: CorrectFlags): Promise<void> {
  const { reason, number: traderInvoiceNumber, date: returnDate } = flags;
  const text = await readText(context, file);
  const replaceWith = parseJson(text, file === "-" ? "Standard input" : file);
  // What is wrong with it, the starter says field by field.
  const request = {
    reason,
    traderInvoiceNumber,
    ...(returnDate !== undefined && { returnDate }),
    replaceWith,
  } as never;
  const seconds = flags.wait === undefined ? 0 : flags.wait === true ? DEFAULT_WAIT_SECONDS : flags.wait;
  const { withSales } = await import("./with-sales.ts");
  const { withDocuments } = await import("./correction-documents.ts");
  const correction = await withSales(context, async (sales) => {
    const { starter, keyOf, warn } = sales;
    const key = keyOf(invoice, flags);
    const begun = await starter.correct(key, request, { waitSeconds: seconds });
    warn(begun.warnings, { ...key, sent: "the correction goes on" });
    return await withDocuments(sales, key, begun);
  });
  const target = { ...scopeOf(flags), invoice };
  const lines = [...correctionLines(correction, target), ...attentionLines(correction.attentions, target)];
  printResult(context, flags.json, correction, lines.join("\n"));
  if (needsSomebody(correction)) throw new CommandFailedError("");
}

function needsSomebody({ stage, attentions, heldUp }: ShownCorrection): boolean {
  return attentions.length > 0 || heldUp !== undefined || stage === "cancelled" || stage === "credited";
}
