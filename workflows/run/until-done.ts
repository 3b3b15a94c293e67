import { CancellationScope, condition } from "@temporalio/workflow";

/** Waits for an activity that waits for the outside world, or until it need not be waited for any more. */
export async function untilDone(wait: () => Promise<unknown>, orUntil: () => boolean): Promise<void> {
  const scope = new CancellationScope();
  let there = false;
  const waiting = scope.run(wait).then(
    () => (there = true),
    // Whoever waits looks again, and is told again that it is away.
    () => (there = true),
  );
  await condition(() => there || orUntil());
  scope.cancel();
  await waiting;
}
