import { condition } from "@temporalio/workflow";

/** Once everything that comes of the same events has happened. Not `aTurn` itself: without its own promise, open runs would go on in another order. */
export async function endOfTurn(): Promise<void> {
  await aTurn();
}

function aTurn(): Promise<void> {
  let asked = 0;
  return condition(() => (asked += 1) > 1);
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
