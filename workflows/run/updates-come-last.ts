import { allHandlersFinished, CancellationScope, type WorkflowInternalsInterceptor } from "@temporalio/workflow";

import { endOfTurns } from "./end-of-turn.ts";

/** Of what comes with an update, a step that waits for another one's condition takes a turn of its own. None has half as many. */
const LONGEST_CHAIN = 10;

let held = 0;

/**
 * Gives a run its updates after everything that came with them has been acted upon (decision 15). The SDK gives them before. But it
 * may have parted one from the rest, or part them in a replay; then the update is left, and comes last. That order is the only one that always holds.
 */
export const holdingUpdates: WorkflowInternalsInterceptor = {
  activate({ activation, batchIndex }, next) {
    const jobs = activation.jobs ?? [];
    const updates = jobs.filter((job) => job.doUpdate);
    if (updates.length === 0) return next({ activation, batchIndex });
    const others = jobs.filter((job) => !job.doUpdate);
    held += updates.length;
    next({ activation: { ...activation, jobs: others }, batchIndex });
    // Not within the wait's scope: handlers stand in the root scope, as they do without this.
    void CancellationScope.nonCancellable(() => endOfTurns(LONGEST_CHAIN)).then(() => {
      held -= updates.length;
      next({ activation: { ...activation, jobs: updates }, batchIndex });
    });
  },
};

/** Whether each update has its answer: to be waited for before a run ends or goes on in another one. */
export function everyUpdateIsAnswered(): boolean {
  return held === 0 && allHandlersFinished();
}
