import { Context } from "@temporalio/activity";

import type { CreateRequest } from "../../src/contract/index.ts";

/** What the attempts of one activity tell each other. Written with each failure; an attempt that is lost writes nothing. */
interface AttemptMemory {
  /** The last attempt that this speaks of. */
  throughAttempt: number;
  /** When something may first have left under the key (Unix milliseconds). */
  firstSentAtMs?: number | undefined;
}

/**
 * When a request under this key may first have left: as the workflow knows it, as an earlier attempt wrote it down, or, where an attempt
 * was lost with its worker, the activity's own beginning. Undefined while certainly nothing has.
 */
export function firstSentBefore(request: Pick<CreateRequest, "firstSentAtMs">): number | undefined {
  const { attempt, scheduledTimestampMs, heartbeatDetails } = Context.current().info;
  const memory: AttemptMemory | undefined = isMemory(heartbeatDetails) ? heartbeatDetails : undefined;
  const lostOne = attempt > 1 && memory?.throughAttempt !== attempt - 1;
  return request.firstSentAtMs ?? memory?.firstSentAtMs ?? (lostOne ? scheduledTimestampMs : undefined);
}

/** To be called before this attempt fails in order to be tried again. */
export function rememberForNextAttempt(firstSentAtMs: number | undefined): void {
  const context = Context.current();
  context.heartbeat({ throughAttempt: context.info.attempt, firstSentAtMs } satisfies AttemptMemory);
}

function isMemory(details: unknown): details is AttemptMemory {
  return typeof details === "object" && details !== null && "throughAttempt" in details;
}
