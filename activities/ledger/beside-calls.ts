import { Context, type Info } from "@temporalio/activity";

import type {
  AdjustStockRequest,
  AppliedMovement,
  CallTarget,
  CreateRequest,
  CreateSaleRequest,
  PersonsWord,
  RecordPart,
  SaidApplied,
  SupersededTry,
  UnknownMovement,
} from "../../src/contract/index.ts";
import type { ClaimedMovement, Decision, Ledger, MovementOutcome, NumberOwner } from "../../src/ledger/index.ts";

type Applied = Extract<MovementOutcome, { kind: "applied" }>;

/** What the ledger answers of a movement that is claimed already. */
export type ClaimedAnswer =
  | { kind: "settled"; generation?: number; outcome: { kind: "applied" } & Partial<Applied>; decision?: Decision }
  | { kind: "held"; generation?: number; takenAtMs: number; holder: string }
  | { kind: "behind"; generation: number; decision?: Decision };

/** In the workflow's words. */
export function toMovementResult(found: Extract<ClaimedAnswer, { kind: "held" }>): UnknownMovement;
export function toMovementResult(found: Extract<ClaimedAnswer, { kind: "behind" }>): SupersededTry;
export function toMovementResult(found: Extract<ClaimedAnswer, { kind: "settled" }>): AppliedMovement | SaidApplied;
export function toMovementResult(found: ClaimedAnswer): AppliedMovement | SaidApplied | SupersededTry | UnknownMovement;
export function toMovementResult(
  found: ClaimedAnswer,
): AppliedMovement | SaidApplied | SupersededTry | UnknownMovement {
  switch (found.kind) {
    case "settled": {
      const { outcome, decision } = found;
      if (outcome.movementId === undefined && decision) return { kind: "said-applied", word: wordOf(decision) };
      const {
        movementId = "",
        sentAtMs = decision?.atMs ?? 0,
        branchId,
        quantityOnHand,
        report,
        otherBranch,
      } = outcome;
      return { kind: "applied", movementId, sentAtMs, branchId, quantityOnHand, report, otherBranch };
    }
    case "behind": {
      const { generation, decision } = found;
      return { kind: "superseded", generation, ...(decision && { word: wordOf(decision) }) };
    }
    case "held": {
      const { takenAtMs, holder } = found;
      const since = new Date(takenAtMs).toISOString();
      const message = `It was taken to be sent at ${since} by ${holder}, and no outcome was written down.`;
      return { kind: "unknown", message, evidence: { takenAt: since, takenBy: holder, sentAtMs: takenAtMs } };
    }
  }
}

export function wordOf({ note, by, atMs }: Pick<Decision, "note" | "by" | "atMs">): PersonsWord {
  return { note, atMs, ...(by !== undefined && { by }) };
}

/** Who took a claim, for people: the workflow and its run. */
export function holderOf({ workflowExecution }: Pick<Info, "workflowExecution">): string {
  return `${workflowExecution?.workflowId ?? "no workflow"} (run ${workflowExecution?.runId ?? "unknown"})`;
}

/** The same, for a row. */
export function writerOf({ workflowExecution }: Pick<Info, "workflowExecution">): {
  workflowId: string;
  runId: string;
} {
  return { workflowId: workflowExecution?.workflowId ?? "no workflow", runId: workflowExecution?.runId ?? "unknown" };
}

export function claimedMovement(
  request: Pick<AdjustStockRequest, "itemId" | "action" | "quantity" | "unitPrice" | "branch">,
): ClaimedMovement {
  const { itemId, action, quantity, unitPrice, branch } = request;
  return { itemId, action, quantity, unitPrice, ...(branch && { branch: branch.id }) };
}

/** As the ledger takes it: without the keys that hold nothing. */
export function ledgerOutcome(outcome: AppliedMovement): Applied {
  const { kind, movementId, branchId, quantityOnHand, report, otherBranch, sentAtMs } = outcome;
  const { stockIo, stockMaster } = report ?? {};
  const reported = { ...(stockIo !== undefined && { stockIo }), ...(stockMaster !== undefined && { stockMaster }) };
  return {
    kind,
    movementId,
    sentAtMs,
    ...(branchId !== undefined && { branchId }),
    ...(quantityOnHand !== undefined && { quantityOnHand }),
    ...(report && { report: reported }),
    ...(otherBranch && { otherBranch }),
  };
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
 * Saves the record that came with a call, as it is with the answer. Where the ledger does not take it the workflow saves
 * it: the answer must reach the workflow in any case.
 * @returns what to add to the answer
 */
export async function saveWithAnswer(
  { records }: Ledger,
  { connection, businessId }: CallTarget,
  record: RecordPart,
): Promise<{ recorded?: true }> {
  try {
    const kept = await records.saveDocument({ connection, businessId }, record, writerOf(Context.current().info));
    return kept === "saved" || kept === "unchanged" ? { recorded: true } : {};
  } catch {
    return {};
  }
}
