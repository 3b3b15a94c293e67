import { DEFAULT_CONNECTION } from "../../contract/index.ts";
import type { NotAllowedError, SaleNotFoundError } from "../../starter/index.ts";
import { CommandFailedError } from "../cli-error.ts";
import { shellWord } from "../output.ts";
import type { Scope } from "./scope.ts";

/** Command lines that are printed, ready to be pasted; what only an operator knows stands in angle brackets. */

export interface CommandTarget extends Scope {
  invoice: string;
}

/** @param words `sale retry` @param operands the number, and what stands behind it */
export function commandLine(
  words: string,
  operands: readonly string[],
  flags: readonly string[],
  scope: Scope,
): string {
  const named = operands.map((operand) => shellWord(operand));
  const flagged = [...flags, ...scopeFlags(scope)];
  // Behind `--` a number that begins with a hyphen is no flag.
  const rest = operands[0]?.startsWith("-") ? [...flagged, "--", ...named] : [...named, ...flagged];
  return ["fiscalflow", words, ...rest].join(" ");
}

/** What names the connection and the business in a command, where they are not the default. */
export function scopeFlags({ connection = DEFAULT_CONNECTION, business }: Scope): string[] {
  return [
    ...(connection === DEFAULT_CONNECTION ? [] : ["--connection", connection]),
    ...(business === undefined ? [] : ["--business", shellWord(business)]),
  ];
}

/** Starts a sale anew whose workflow ended without an outcome. */
export function restartCommand({ invoice, ...scope }: CommandTarget): string {
  return commandLine("sale restart", [invoice], ["--note", "'<why>'"], scope);
}

const OF_REFUND = ["--reason", "'<code>'", "--number", "'<of the credit note>'"];

/** Reverses a completed sale. */
export function refundCommand({ invoice, ...scope }: CommandTarget): string {
  return commandLine("sale refund", [invoice], OF_REFUND, scope);
}

/** Reverses a completed sale, and issues the corrected one. */
export function correctCommand({ invoice, ...scope }: CommandTarget): string {
  return commandLine("sale correct", [invoice, "<file of the corrected sale>"], OF_REFUND, scope);
}

export function showCommand(invoice: string, scope: Scope): string {
  return commandLine("sale show", [invoice], [], scope);
}

/**
 * Of a number that no sale has: the sale that it is the credit note of, as far as the ledger knows.
 * @param command with INVOICE in place of the sale's number
 */
export function orCreditNoteHint(invoice: string, command: string): (error: unknown) => never {
  return (error) => {
    if (!isNotFound(error)) throw error;
    const { creditNoteOf: sale, message } = error;
    const hint =
      sale === undefined
        ? `${message} Nor does the ledger know a credit note of that number. fiscalflow documents lists both.`
        : `${invoice} is the number of a credit note, of the sale ${sale}. See: ${command.replace("INVOICE", shellWord(sale))}`;
    throw new CommandFailedError(hint, { cause: error });
  };
}

/** Of what the sale refused: the same, with the command of a restart or a refund where one is allowed. */
export function orCommands(target: CommandTarget): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error) || error.name !== "NotAllowedError") throw error;
    const { allowed } = error as NotAllowedError;
    const commands = [
      ...(allowed.includes("restart") ? [restartCommand(target)] : []),
      ...(allowed.includes("refund") ? [refundCommand(target)] : []),
    ];
    if (commands.length === 0) throw error;
    const message = [error.message, ...commands.map((command) => `    ${command}`)].join("\n");
    throw new CommandFailedError(message, { cause: error });
  };
}

/** By its name: the class belongs to what is loaded for a command that talks to Temporal. */
export function isNotFound(error: unknown): error is SaleNotFoundError {
  return error instanceof Error && error.name === "SaleNotFoundError";
}
