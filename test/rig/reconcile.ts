import {
  MAIN_TASK_QUEUE,
  type ReconcileInput,
  type ReconcileOutcome,
  reconcileWorkflowId,
} from "../../src/contract/index.ts";
import type { Rig } from "./start-rig.ts";
import { BUSINESS } from "./views-of.ts";

/**
 * Reconciles the suite's business, as an operator does in Temporal's UI.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function reconcileOf(rig: () => Rig) {
  return async (more: Pick<ReconcileInput, "rule"> = {}): Promise<ReconcileOutcome> =>
    await rig().client.workflow.execute<(input: ReconcileInput) => Promise<ReconcileOutcome>>("reconcile", {
      workflowId: reconcileWorkflowId(BUSINESS),
      taskQueue: MAIN_TASK_QUEUE,
      args: [{ ...BUSINESS, ...more }],
    });
}
