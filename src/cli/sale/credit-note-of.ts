import { creditNoteWorkflowId, endedInWords } from "../../contract/index.ts";
import type { SaleKey, SaleNotFoundError, SaleState } from "../../starter/index.ts";
import { REFUND_ALLOWED, RESTART_COMMAND } from "../../starter/closed-run.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import { shellWord } from "../output.ts";
import { type CommandTarget, refundCommand, resolvingCommands, restartCommand } from "./resolving-commands.ts";
import type { Sales } from "./with-sales.ts";

/**
 * A credit note needs an operator by itself, in its own workflow; after the refund window the sale does not know of it.
 * It may outlive the sale's workflow; once it is gone too, the ledger tells of it.
 */
export async function creditNoteOf(
  { client }: Sales,
  key: SaleKey & BusinessScope,
  state: SaleState,
): Promise<{ workflowId: string; state: SaleState } | undefined> {
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  const { stateOfRun } = await import("../../starter/state-of-run.ts");
  const saleId = state.document?.id;
  if (state.stage !== "completed" && state.stage !== "crediting" && state.stage !== "credited") return undefined;
  const workflowId =
    state.creditNoteWorkflowId ?? (saleId === undefined ? undefined : creditNoteWorkflowId({ ...key, saleId }));
  if (workflowId === undefined) return undefined;
  try {
    return { workflowId, state: (await stateOfRun(client, workflowId, key)).state };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const kept = state.source === "ledger" ? state.creditNoteState : undefined;
    return kept && { workflowId, state: kept };
  }
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
        ? `${message} Nor does the ledger know a credit note of that number. One that is not recorded yet shows under its sale: ${command}. fiscalflow documents lists both.`
        : `${invoice} is the number of a credit note, of the sale ${sale}. See: ${command.replace("INVOICE", shellWord(sale))}`;
    throw new CommandFailedError(hint, { cause: error });
  };
}

/**
 * Of what the sale refused: the same, with the whole command of a restart or a refund; and where it is the credit note
 * that needs somebody, the commands that reach that.
 */
export function orCreditNoteCommands(sales: Sales, target: CommandTarget): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!(error instanceof Error) || error.name !== "NotAllowedError") throw error;
    const message = error.message
      .replace(RESTART_COMMAND, `\`${restartCommand(target)}\``)
      .replace(REFUND_ALLOWED, `${REFUND_ALLOWED}\n    ${refundCommand(target)}`);
    const isOther = target.creditNote === true || target.correction === true;
    const lines = isOther ? [] : await creditNoteCommands(sales, target).catch(() => []);
    if (lines.length === 0 && message === error.message) throw error;
    throw new CommandFailedError([message, ...lines].join("\n"), { cause: error });
  };
}

/** In lines; none where the sale has no credit note, or that needs nobody. */
export async function creditNoteCommands(sales: Sales, sale: CommandTarget): Promise<string[]> {
  const key = sales.keyOf(sale.invoice, sale);
  const note = await creditNoteOf(sales, key, await sales.starter.getSale(key));
  if (!note || note.state.source === "ledger") return [];
  const { attentions, closed } = note.state;
  const target = { ...sale, creditNote: true };
  if (closed?.refused) return [];
  if (closed)
    return [
      `The workflow of its credit note ${endedInWords(closed)}. To carry it on:`,
      `    ${restartCommand(target)}`,
    ];
  const commands = attentions.flatMap((attention) => resolvingCommands(attention, target));
  if (commands.length === 0) return [];
  const codes = [...new Set(attentions.map(({ code }) => code))].join(", ");
  return [
    `Its credit note needs an operator: ${codes}. To resolve it:`,
    ...commands.map((command) => `    ${command}`),
  ];
}

/** By its name: the class belongs to what is loaded for a command that talks to Temporal. */
export function isNotFound(error: unknown): error is SaleNotFoundError {
  return error instanceof Error && error.name === "SaleNotFoundError";
}
