import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

import { CancelledByPerson } from "./cancelled-by-person.ts";
import type { Run } from "./run.ts";

/**
 * Runs a step that a cancellation may end at once, since while it runs nothing exists that would have to be undone.
 * @throws CancelledByPerson
 */
export async function unlessCancelled<T>(run: Run, step: () => Promise<T>): Promise<T> {
  const scope = new CancellationScope();
  let done = false;
  const running = scope.run(step).finally(() => (done = true));
  running.catch(() => undefined);
  await condition(() => done || run.cancelDue);
  if (done) return await running;
  run.endsEarly();
  scope.cancel();
  await running.catch((error: unknown) => {
    if (!isCancellation(error) && !(error instanceof CancelledByPerson)) throw error;
  });
  throw new CancelledByPerson(run.cancelRequested ?? "");
}
