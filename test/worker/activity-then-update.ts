import { condition, defineQuery, defineUpdate, proxyActivities, setHandler } from "@temporalio/workflow";

/** What it does once its first activity has ended depends on whether an update came with that end. */
export async function activityThenUpdate(): Promise<number> {
  const { first, second } = proxyActivities<{ first(): Promise<void>; second(): Promise<void> }>({
    startToCloseTimeout: "5 minutes",
  });
  let updates = 0;
  setHandler(defineQuery("updates"), () => updates);
  setHandler(defineUpdate("update"), () => void (updates += 1));
  await first();
  await second();
  await condition(() => updates > 1);
  return updates;
}
