import type { SaleNotFoundError } from "../../starter/index.ts";
import { REFUND_ALLOWED, RESTART_COMMAND } from "../../starter/state-of-sale.ts";
import { CommandFailedError } from "../cli-error.ts";
import { shellWord } from "../output.ts";
import { type CommandTarget, refundCommand, restartCommand } from "./resolving-commands.ts";

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

/** Of what the sale refused: the same, with the whole command of a restart or a refund. */
export function orCommands(target: CommandTarget): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error) || error.name !== "NotAllowedError") throw error;
    const message = error.message
      .replace(RESTART_COMMAND, `\`${restartCommand(target)}\``)
      .replace(REFUND_ALLOWED, `${REFUND_ALLOWED}\n    ${refundCommand(target)}`);
    throw message === error.message ? error : new CommandFailedError(message, { cause: error });
  };
}

/** By its name: the class belongs to what is loaded for a command that talks to Temporal. */
export function isNotFound(error: unknown): error is SaleNotFoundError {
  return error instanceof Error && error.name === "SaleNotFoundError";
}
