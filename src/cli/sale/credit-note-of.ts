import { creditNoteWorkflowId } from "../../contract/index.ts";
import type { SaleKey, SaleNotFoundError, SaleState } from "../../starter/index.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import { shellWord } from "../output.ts";
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

/** By its name: the class belongs to what is loaded for a command that talks to Temporal. */
export function isNotFound(error: unknown): error is SaleNotFoundError {
  return error instanceof Error && error.name === "SaleNotFoundError";
}
