import type { WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor } from "@temporalio/workflow";

let taken = 0;

/** Activities that were asked for, and messages that were taken: what makes a history longer. Each comes to some six events. */
export function stepsTaken(): number {
  return taken;
}

export const countingMessages: WorkflowInboundCallsInterceptor = {
  handleSignal: (input, next) => next(counted(input)),
  handleUpdate: (input, next) => next(counted(input)),
};

export const countingCalls: WorkflowOutboundCallsInterceptor = {
  scheduleActivity: (input, next) => next(counted(input)),
};

function counted<Input>(input: Input): Input {
  taken += 1;
  return input;
}
