import { Context } from "@temporalio/activity";

import type {
  AdjustStockRequest,
  CallTarget,
  CreateRequest,
  CreateSaleRequest,
  RecordPart,
} from "../../src/contract/index.ts";
import type { ClaimedMovement, Ledger, NumberOwner } from "../../src/ledger/index.ts";

/** The run that the activity works for, as a row keeps it. */
export function currentWriter(): { workflowId: string; runId: string } {
  const { workflowExecution } = Context.current().info;
  return { workflowId: workflowExecution?.workflowId ?? "no workflow", runId: workflowExecution?.runId ?? "unknown" };
}

/** The same for people: who takes a claim. */
export function currentHolder(): string {
  const { workflowId, runId } = currentWriter();
  return `${workflowId} (run ${runId})`;
}

export function claimedMovement(
  request: Pick<AdjustStockRequest, "itemId" | "action" | "quantity" | "unitPrice" | "branch">,
): ClaimedMovement {
  const { itemId, action, quantity, unitPrice, branch } = request;
  return { itemId, action, quantity, unitPrice, ...(branch && { branch: branch.id }) };
}

/** For people: the sale by its own number, where it is known, and by what the service knows it by. */
export function numberTaken(number: string, { saleId, sale, holder }: NumberOwner): string {
  return `The number ${number} belongs to the credit note of another sale: ${sale} (${saleId}), of ${holder}.`;
}

/** The Idempotency-Key that is sent with it; undefined for none. */
export function keySentWith(request: CreateRequest & Partial<CreateSaleRequest>): string | undefined {
  return request.saleKey === "off" ? undefined : request.idempotencyKey;
}

/**
 * Saves the record that came with a call, as it is with the answer. Where the ledger does not take it the workflow
 * saves it: the answer must reach the workflow in any case.
 * @returns what to add to the answer
 */
export async function saveWithAnswer(
  { records }: Ledger,
  { connection, businessId }: CallTarget,
  record: RecordPart,
): Promise<{ recorded?: true }> {
  try {
    const kept = await records.saveDocument({ connection, businessId }, record, currentWriter());
    return kept === "saved" || kept === "unchanged" ? { recorded: true } : {};
  } catch {
    return {};
  }
}
