import { condition, defineSignal, defineUpdate, proxyActivities, setHandler } from "@temporalio/workflow";

import { onSignal } from "../../workflows/sdk/interceptors.ts";

type Activities = Record<"first" | "endedBefore" | "endedAfter", () => Promise<void>>;

/** What it does next depends on which came first: the end of its first activity, or an update. */
export async function activityThenUpdate(): Promise<void> {
  const { first, endedBefore, endedAfter } = proxyActivities<Activities>({ startToCloseTimeout: "5 minutes" });
  let ended = false;
  let updated = false;
  // For a workflow task without commands.
  onSignal(defineSignal<[unknown?]>("signal"), () => undefined);
  setHandler(defineUpdate("update"), async () => {
    await (ended ? endedBefore() : endedAfter());
    updated = true;
  });
  await first();
  ended = true;
  await condition(() => updated);
}
