import type { WorkflowInterceptors } from "@temporalio/workflow";

import { countingCalls, countingMessages } from "./run/steps.ts";
import { holdingUpdates } from "./run/updates-come-last.ts";

/** Of every workflow; bundled with them. */
export function interceptors(): WorkflowInterceptors {
  return { internals: [holdingUpdates], inbound: [countingMessages], outbound: [countingCalls] };
}
