import type { WorkflowClient } from "@temporalio/client";
import { Context } from "@temporalio/activity";

import { type CreditNoteOutcome, type MainActivities, someMovement } from "../../src/contract/index.ts";
import { backoffMs, stillWaiting } from "../failure.ts";

/** Waits for a credit note that is no child of the waiting run: one that was started by hand, or before a reset. */
export function createCreditNoteRunActivities(
  workflows: WorkflowClient,
  random: () => number,
): Pick<MainActivities, "awaitCreditNoteRun"> {
  return {
    async awaitCreditNoteRun({ workflowId }) {
      const handle = workflows.getHandle(workflowId);
      const { status } = await handle.describe();
      if (status.name === "RUNNING") {
        throw stillWaiting(`The credit note's workflow is running.`, backoffMs(Context.current().info.attempt, random));
      }
      if (status.name !== "COMPLETED") return { kind: "failed", message: `its workflow is ${status.name}` };
      const outcome = (await handle.result()) as CreditNoteOutcome;
      const restocked = someMovement(outcome, ({ purpose }) => purpose === "restocked");
      return { kind: "ended", stage: outcome.stage, creditNote: outcome.creditNote ?? null, restocked };
    },
  };
}
