import { Context } from "@temporalio/activity";

import { BRANCH_NOT_SENT, branchSentAs } from "../../src/compliance/index.ts";
import type {
  AdjustStockRequest,
  AdjustStockResult,
  AppliedMovement,
  BranchHold,
  KnownMovement,
  UnknownOutcome,
} from "../../src/contract/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { claimedMovement, currentHolder } from "../ledger/beside-calls.ts";
import type { ActivityContext, ComplianceRuntime } from "./calls.ts";

type Taken = { kind: "taken" } | KnownMovement | Extract<AdjustStockResult, { kind: "branch-held" | "not-applied" }>;

/**
 * Takes the claim of one try. Anything but `taken` is known of the movement already, or says why it may not be sent.
 */
export async function takeMovement(
  { ledger, earlierRuns, nowMs }: ActivityContext,
  { dialect }: ComplianceRuntime,
  request: AdjustStockRequest,
): Promise<Taken> {
  await earlierRuns.takeOver(Context.current().info.workflowExecution);
  const sentAs = request.branch && branchSentAs(dialect.stock);
  const answer = await ledger.stock.take({
    ...request,
    ...request.claim,
    movement: claimedMovement(request),
    branchSentAs: sentAs === BRANCH_NOT_SENT ? undefined : sentAs,
    holder: currentHolder(),
    nowMs: nowMs(),
  });
  if (answer.kind === "branch-held") return { ...answer, message: branchHeldMessage(request, answer.hold) };
  return answer.kind === "different" ? differentMovement(request, answer) : answer;
}

/** Somebody who has looked at a pair of branches once need not look at it for each movement. */
export async function withoutKnownBranch(
  { ledger }: ActivityContext,
  request: AdjustStockRequest,
  { otherBranch, ...applied }: AppliedMovement,
): Promise<AppliedMovement> {
  if (!otherBranch) return applied;
  try {
    if (await ledger.stock.isBranchAcknowledged(request, otherBranch)) return applied;
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
  }
  return { ...applied, otherBranch };
}

function branchHeldMessage({ connection }: AdjustStockRequest, { referenceId, asked, answered }: BranchHold): string {
  return (
    `The answer to ${referenceId} named branch "${answered}" where "${asked}" was asked for. Connection ${connection} sends no movement ` +
    "to a named branch until an operator has acknowledged that, or stock.branch or stock.branchBy of COMPLIANCE_DIALECT is changed; " +
    `then this one is sent by itself. Where ${referenceId} no longer waits to be acknowledged: check the branch, then retry this ` +
    "movement with a note that says what you found, which lifts the hold. A retry without a note only tries again."
  );
}

/** An earlier run sent something else under this reference. */
function differentMovement(
  { referenceId }: AdjustStockRequest,
  { claimed, state }: { claimed: { itemId: string; action: string; quantity: number }; state: string },
): UnknownOutcome | Extract<AdjustStockResult, { kind: "not-applied" }> {
  const other = `${claimed.action} ${claimed.quantity} of ${claimed.itemId}`;
  const message = `An earlier run sent another movement under ${referenceId}: ${other}, which is ${state === "held" ? "of unknown outcome" : state}.`;
  if (state === "held") return { kind: "unknown", message, evidence: { earlierMovement: claimed } };
  const details = { earlierMovement: claimed };
  return { kind: "not-applied", refusal: { kind: "refused", attention: "stock-refused", message, details } };
}
