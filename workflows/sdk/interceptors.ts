import {
  allHandlersFinished,
  CancellationScope,
  condition,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowInternalsInterceptor,
  type WorkflowOutboundCallsInterceptor,
} from "@temporalio/workflow";

/** Of every workflow; bundled with them. */
export function interceptors(): WorkflowInterceptors {
  return { internals: [deferUpdatesInterceptor], inbound: [countingMessages], outbound: [countingCalls] };
}

/**
 * Of what comes with an update, a step that waits for another one's condition takes a turn of its own. None has half as
 * many.
 */
const LONGEST_CHAIN = 10;

let held = 0;

/**
 * Gives a run its updates after everything that came with them has been acted upon (decision 15). The SDK gives them
 * before. But it may have parted one from the rest, or part them in a replay; then the update is left, and comes last.
 * That order is the only one that always holds.
 */
const deferUpdatesInterceptor: WorkflowInternalsInterceptor = {
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

/**
 * Activities that were asked for, and messages that were taken: what makes a history longer. Each comes to some six
 * events.
 */
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

/**
 * Once everything that comes of the same events has happened. Not `aTurn` itself: without its own promise, open runs
 * would go on in another order.
 */
export async function endOfTurn(): Promise<void> {
  await aTurn();
}

function aTurn(): Promise<void> {
  let asked = 0;
  return condition(() => (asked += 1) > 1);
}

/**
 * Once so many turns are over, each of which lets the steps go on that waited for a condition of the one before. With
 * few promises: Temporal notes the origin of each for its call stacks, and a replay makes all of them again.
 */
function endOfTurns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): void => {
      if (left === 0) resolve();
      else void aTurn().then(() => turn(left - 1));
    };
    turn(count);
  });
}
