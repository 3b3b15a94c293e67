import { type Command, Option } from "commander";

import { endedInWords, type MovementState, REFUND_REASONS, type SaleOutcome } from "../../contract/index.ts";
import { parseInput, refundRequestSchema } from "../../contract/schema/index.ts";
import { waitSeconds } from "../arguments.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import { bookedOf } from "./correction-documents.ts";
import { documentLines } from "./render-correction.ts";
import { showCommand } from "./command-lines.ts";
import { parseInvoice, type ResultFlags, type Scope, withScope } from "./scope.ts";

const DEFAULT_WAIT_SECONDS = 60;

interface RefundFlags extends Scope, ResultFlags {
  reason: string;
  number: string;
  date?: string;
  restock?: boolean;
  branch?: string;
  wait?: true | number;
}

export function registerRefund(sale: Command, context: CliContext): void {
  const reasons = Object.entries(REFUND_REASONS).map(([code, meaning]) => `${code} ${meaning}`);
  withScope(
    sale
      .command("refund")
      .description("Reverse a completed sale in full with a credit note. Asking twice gives one credit note.")
      .argument("<invoice>", "the sale's number", parseInvoice)
      .addOption(
        new Option("--reason <code>", reasons.join(", ")).choices(Object.keys(REFUND_REASONS)).makeOptionMandatory(),
      )
      .requiredOption("--number <number>", "the credit note's own number")
      .option("--date <date>", "YYYY-MM-DD (default: today in Nairobi)")
      .option("--restock", "return the goods to the branch that they were taken from")
      .option("--branch <name>", "with --restock, for a sale that took no stock: the branch that now has the goods")
      .option("--wait [seconds]", `wait for the credit note's outcome (default: ${DEFAULT_WAIT_SECONDS})`, waitSeconds),
  )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow sale refund INV-1001 --reason 06 --number CN-1 --restock`,
    )
    .action((invoice: string, flags: RefundFlags) => refundSale(context, invoice, flags));
}

async function refundSale(context: CliContext, invoice: string, flags: RefundFlags): Promise<void> {
  const { reason, number, date, restock, branch } = flags;
  const request = parseInput(
    refundRequestSchema,
    {
      reason,
      traderInvoiceNumber: number,
      ...(date !== undefined && { returnDate: date }),
      ...(restock === true && { restock }),
      ...(branch !== undefined && { branch }),
    },
    "refund request",
  );
  const seconds = flags.wait === undefined ? 0 : flags.wait === true ? DEFAULT_WAIT_SECONDS : flags.wait;
  const { withSales } = await import("./with-sales.ts");
  const outcome = await withSales(context, async ({ starter, keyOf, warn }) => {
    const key = keyOf(invoice, flags);
    const refunded = await starter.refund(key, request, { waitSeconds: seconds });
    warn(refunded.warnings, { ...key, sent: "the credit note was sent" });
    return refunded;
  });
  printResult(context, flags.json, outcome, refundText(invoice, number, showCommand(invoice, flags), outcome));
  if (outcome.stage !== "credited" && outcome.attention !== undefined) throw new CommandFailedError("");
}

const UNDER_WAY: readonly MovementState[] = ["planned", "sending", "unknown"];

/** The credit note is signed before its goods go back, and whoever waits for it does not wait for them. */
function goodsAreOut({ refund, stockMovements }: SaleOutcome): boolean {
  const back = stockMovements.filter(({ purpose }) => purpose === "restocked");
  return refund?.restock === true && back.some(({ state }) => UNDER_WAY.includes(state));
}

/**
 * What became of it, as a sentence, and the credit note once it is signed.
 * @param show the command that shows the sale
 */
function refundText(invoice: string, number: string, show: string, outcome: SaleOutcome): string {
  const { stage, creditNote, attention, closed } = outcome;
  const note = creditNote?.traderInvoiceNumber ?? number;
  if (stage === "credited") {
    const lines = creditNote ? documentLines("Credit note", bookedOf(creditNote)) : [];
    const goods = goodsAreOut(outcome) ? [`Its goods are not back in stock yet. See ${show}`] : [];
    return [
      `${invoice} is credited in full by ${note} (document ${creditNote?.id ?? "unknown"}).`,
      ...lines,
      ...goods,
    ].join("\n");
  }
  if (closed) return `${invoice} is not refunded by ${note} yet: its workflow ${endedInWords(closed)}. See ${show}`;
  if (stage === "completed") return `${invoice} is not refunded: its credit note ${note} was given up. See ${show}`;
  const goesOn = `The refund of ${invoice} by credit note ${note} is under way`;
  if (attention) return `${goesOn}, and needs an operator: ${attention.code}. See ${show}`;
  return `${goesOn}, and goes on by itself. See ${show}`;
}
