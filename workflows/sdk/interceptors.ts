import {
  allHandlersFinished,
  CancellationScope,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowInternalsInterceptor,
  type WorkflowOutboundCallsInterceptor,
} from "@temporalio/workflow";

import { endOfTurns } from "./end-of-turn.ts";

/** Of every workflow; bundled with them. */
export function interceptors(): WorkflowInterceptors {
  return { internals: [holdingUpdates], inbound: [countingMessages], outbound: [countingCalls] };
}

/** Of what comes with an update, a step that waits for another one's condition takes a turn of its own. None has half as many. */
const LONGEST_CHAIN = 10;

let held = 0;

/**
 * Gives a run its updates after everything that came with them has been acted upon (decision 15). The SDK gives them before. But it
 * may have parted one from the rest, or part them in a replay; then the update is left, and comes last. That order is the only one that always holds.
 */
const holdingUpdates: WorkflowInternalsInterceptor = {
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

let taken = 0;

/** Activities that were asked for, and messages that were taken: what makes a history longer. Each comes to some six events. */
export function stepsTaken(): number {
  return taken;
}

const countingMessages: WorkflowInboundCallsInterceptor = {
  handleSignal: (input, next) => next(counted(input)),
  handleUpdate: (input, next) => next(counted(input)),
};

const countingCalls: WorkflowOutboundCallsInterceptor = {
  scheduleActivity: (input, next) => next(counted(input)),
};

function counted<Input>(input: Input): Input {
  taken += 1;
  return input;
}
