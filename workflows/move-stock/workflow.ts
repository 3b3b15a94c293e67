import { ApplicationFailure, CancellationScope, setCurrentDetails, workflowInfo } from "@temporalio/workflow";

import { FAILURES, movementInWords, type MoveStockInput, type MoveStockResult } from "../../src/contract/index.ts";
import { detailsPage, quoted } from "../operator/details.ts";
import { callsOf } from "../proxies.ts";
import { isSharedObstacle, sendMovement } from "../stock/apply-movement.ts";

/**
 * A chunk of the movements of a sale, or of a credit note, of many items: one try of each, so that the answers stand in
 * this history and not in that of the run which started it. One after the other: nobody waits for the last of a hundred
 * movements, and the tills' sales go on beside them. It decides nothing and calls nobody. What is not sent once it is
 * cancelled, or once one try has met what all would meet, is for the run that started it; what has left is waited for.
 */
export async function moveStock(input: MoveStockInput): Promise<MoveStockResult> {
  const { parent: sentFor, runId: ownRunId, firstExecutionRunId } = workflowInfo();
  if (!sentFor)
    throw ApplicationFailure.nonRetryable("A sale or a credit note starts this by itself.", FAILURES.invalidInput);
  const { connection, businessId, retriedAtMs, route, movements } = input;
  const target = { connection, businessId };
  const context = { target, calls: callsOf(route, () => retriedAtMs) };
  const { workflowId, runId } = sentFor;
  const wasReset = ownRunId !== firstExecutionRunId;
  const more = { sentFor: { workflowId, runId, ...(wasReset && { reset: true as const }) } };
  const answers: MoveStockResult["answers"] = [];
  let halted = "";
  const show = (): void => {
    const progress = `**Sends** ${movements.length} stock movements of the workflow ${quoted(workflowId)}; ${answers.length} are answered.`;
    const resolved = "What needs an operator is shown, and resolved, in that workflow.";
    setCurrentDetails(detailsPage([], [progress, halted, resolved]));
  };
  CancellationScope.current().cancelRequested.catch(() => (halted ||= "It sends no more: it was cancelled."));
  return await CancellationScope.nonCancellable(async () => {
    show();
    for (const movement of movements) {
      if (halted) break;
      const inWords = movementInWords({ ...movement, ...(movement.branch && { branchId: movement.branch.id }) });
      const result = await sendMovement(context, movement, inWords, more);
      answers.push({ referenceId: movement.referenceId, result });
      if (isSharedObstacle(result)) halted ||= "It sends no more: one has met what all would meet.";
      show();
    }
    return { answers };
  });
}
