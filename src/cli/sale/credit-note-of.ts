import { creditNoteWorkflowId } from "../../contract/index.ts";
import type { SaleKey, SaleState } from "../../starter/index.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { BusinessScope } from "../jobs/business-of.ts";
import type { Sales } from "./with-sales.ts";

/**
 * A credit note needs a person by itself, in its own workflow; after the refund window the sale does not know of it. It
 * may outlive the sale's workflow; once it is gone too, the ledger tells of it.
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

/** Only sales are found by their number: says so of a number that none has. */
export function orCreditNoteHint(invoice: string, command: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error) || error.name !== "SaleNotFoundError") throw error;
    throw new CommandFailedError(
      `${error.message} If ${invoice} is the number of a credit note, give the number of its sale: ${command}. fiscalflow documents lists both.`,
      { cause: error },
    );
  };
}
