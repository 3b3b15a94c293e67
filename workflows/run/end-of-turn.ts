import { CancellationScope, condition } from "@temporalio/workflow";

import { eachCall } from "./each-call.ts";

/** Of what one message sets off, a step that waits for another one's condition takes a turn of its own. None has as many. */
const LONGEST_CHAIN = 5;

/** Once everything that comes of the same events has happened. Not `aTurn` itself: without its own promise, open runs would go on in another order. */
export async function endOfTurn(): Promise<void> {
  await aTurn();
}

function aTurn(): Promise<void> {
  let asked = 0;
  return condition(() => (asked += 1) > 1);
}

/**
 * Local activities whose ends are acted upon after everything that came with them (decision 0015). A query ends the workflow task beside
 * a local activity, and a message of the next task is handled before the activity's end; a replay is given both at once.
 */
export function afterMessages<Activities extends object>(activities: Activities): Activities {
  return eachCall(activities, async (call, args) => {
    try {
      return await call(...args);
    } finally {
      await CancellationScope.nonCancellable(() => endOfTurns(LONGEST_CHAIN));
    }
  });
}

/**
 * Once so many turns are over, each of which lets the steps go on that waited for a condition of the one before. With few promises: Temporal notes the
 * origin of each for its call stacks, and a replay makes all of them again.
 */
export function endOfTurns(count: number): Promise<void> {
  return new Promise((resolve) => {
    const turn = (left: number): void => {
      if (left === 0) resolve();
      else void aTurn().then(() => turn(left - 1));
    };
    turn(count);
  });
}
