import { ActivityFailure, TimeoutFailure } from "@temporalio/workflow";

import type { CreateResult } from "../../src/contract/index.ts";
import { rootMessage } from "../run/answered.ts";

/** A call that ended without an answer is unknown; one that no worker took was never sent. */
export async function lostAsUnknown(call: Promise<CreateResult>): Promise<CreateResult> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const neverStarted = error.cause instanceof TimeoutFailure && error.cause.timeoutType === "SCHEDULE_TO_START";
    const message = `${error.activityType} ended without an answer: ${rootMessage(error)}`;
    if (neverStarted) return { kind: "deferred", message };
    return { kind: "unknown", message, evidence: { activityId: error.activityId ?? "" } };
  }
}
