import { CancellationScope, condition } from "@temporalio/workflow";

import { ledger } from "../proxies.ts";

/** Waits until the database of the claims answers, or until it need not be waited for any more. An outage costs no history. */
export async function untilLedger(orUntil: () => boolean): Promise<void> {
  const scope = new CancellationScope();
  let there = false;
  const waiting = scope
    .run(() => ledger.awaitLedger())
    .then(
      () => (there = true),
      // Whoever waits looks again, and is told again that it is away.
      () => (there = true),
    );
  await condition(() => there || orUntil());
  scope.cancel();
  await waiting;
}
