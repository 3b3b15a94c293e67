import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowInternalsInterceptor,
  type WorkflowOutboundCallsInterceptor,
} from "@temporalio/workflow";

import { FAILURES } from "../../src/contract/index.ts";
import { whyUnreadable } from "./payload-converter.ts";
import { joinSignalsInterceptor, signalsReceived } from "./signals.ts";

/** The interceptors of every workflow, bundled with the workflows. */
export function interceptors(): WorkflowInterceptors {
  return {
    internals: [deferUpdatesInterceptor, joinSignalsInterceptor, joinAttributesInterceptor],
    inbound: [readableInput, countingUpdates],
    outbound: [countingCalls],
  };
}

/**
 * How many turns an activation gets before its updates are delivered. A turn is one pass of the SDK over the pending
 * conditions: in each pass, steps go on whose condition an earlier step has made true. No workflow has a chain of half
 * as many.
 */
const MOST_TURNS = 10;

let deferredUpdates = 0;

/**
 * Delivers the updates of an activation after everything else in it has run its course (decision 15). The SDK delivers
 * updates first. But an update and the other jobs may come in one activation when the workflow runs and in two in a
 * replay, or the other way round. With updates last both give the same order.
 */
const deferUpdatesInterceptor: WorkflowInternalsInterceptor = {
  activate({ activation, batchIndex }, next) {
    const jobs = activation.jobs ?? [];
    const updates = jobs.filter((job) => job.doUpdate);
    if (updates.length === 0) return next({ activation, batchIndex });
    const others = jobs.filter((job) => !job.doUpdate);
    deferredUpdates += updates.length;
    next({ activation: { ...activation, jobs: others }, batchIndex });
    // `next` is called outside this scope, so that update handlers run in the root scope, as without the interceptor.
    void CancellationScope.nonCancellable(() => endOfTurns(MOST_TURNS)).then(() => {
      deferredUpdates -= updates.length;
      next({ activation: { ...activation, jobs: updates }, batchIndex });
    });
  },
};

/**
 * Sets search attributes at most once in an activation, together: each command of its own would be an event, and a
 * write of Temporal's visibility store. What is set last counts. A workflow task has one activation, and another one
 * where it cancels an activity.
 */
const joinAttributesInterceptor: WorkflowInternalsInterceptor = {
  concludeActivation({ commands }, next) {
    const [first, ...others] = commands.flatMap(({ upsertWorkflowSearchAttributes: upsert }) => upsert ?? []);
    if (!first || others.length === 0) return next({ commands });
    const fields = [first, ...others].map(({ searchAttributes }) => searchAttributes?.indexedFields);
    first.searchAttributes = { indexedFields: Object.assign({}, ...fields) as NonNullable<(typeof fields)[number]> };
    return next({
      commands: commands.filter(({ upsertWorkflowSearchAttributes: upsert }) => !upsert || upsert === first),
    });
  },
};

/** Whether each update has its answer. To be awaited before a run completes or continues as new. */
export function everyUpdateIsAnswered(): boolean {
  return deferredUpdates === 0 && allHandlersFinished();
}

let steps = 0;

/**
 * How many activities this run has scheduled and messages it has received. Each adds some six events to the history.
 */
export function stepsTaken(): number {
  return steps + signalsReceived();
}

/** A run whose input cannot be read has nothing to do, and nobody can correct that. */
const readableInput: WorkflowInboundCallsInterceptor = {
  async execute(input, next) {
    const why = input.args.flatMap((arg) => whyUnreadable("workflow's input", arg) ?? []);
    if (why.length > 0) throw ApplicationFailure.nonRetryable(why.join(" "), FAILURES.invalidInput);
    return await next(input);
  },
};

const countingUpdates: WorkflowInboundCallsInterceptor = { handleUpdate: (input, next) => next(counted(input)) };

const countingCalls: WorkflowOutboundCallsInterceptor = { scheduleActivity: (input, next) => next(counted(input)) };

function counted<Input>(input: Input): Input {
  steps += 1;
  return input;
}

/** Resolves one turn later: the steps that the same activation unblocked have run by then. */
export function endOfTurn(): Promise<void> {
  let evaluations = 0;
  return condition(() => (evaluations += 1) > 1);
}

/**
 * Resolves after so many turns. It makes few promises: the SDK records a stack trace for each, again in every replay.
 */
function endOfTurns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): void => {
      if (left === 0) resolve();
      else void endOfTurn().then(() => turn(left - 1));
    };
    turn(count);
  });
}
