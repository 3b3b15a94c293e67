import { proxyActivities } from "@temporalio/workflow";

/** An activity that is sent at most once, as a stock adjustment is: a lost task shows as a timeout. */
export async function oneActivity(taskQueue: string): Promise<void> {
  const { call } = proxyActivities<{ call(): Promise<void> }>({
    taskQueue,
    startToCloseTimeout: "3 seconds",
    retry: { maximumAttempts: 1 },
  });
  await call();
}
