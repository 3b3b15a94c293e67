import { defineQuery, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";

import { onSignal } from "../../workflows/sdk/interceptors.ts";

type Activities = Record<"first" | "signalledBefore" | "signalledAfter", () => Promise<void>>;

/** What it does next depends on which came first: the end of its first activity, or a signal. */
export async function activityAndSignal(): Promise<void> {
  const { first, signalledBefore, signalledAfter } = proxyActivities<Activities>({ startToCloseTimeout: "5 minutes" });
  let signalled = false;
  setHandler(defineQuery("signalled"), () => signalled);
  onSignal(defineSignal<[unknown?]>("signal"), () => void (signalled = true));
  await first();
  await (signalled ? signalledBefore() : signalledAfter());
}
