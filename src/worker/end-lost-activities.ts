import { type Client, isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";

import type { Ledger, LostExecution } from "../ledger/index.ts";
import { lookRegularly } from "./look-regularly.ts";

const EVERY_MS = 60_000;
/** The server ends an attempt by itself at its start-to-close timeout; what stands still is later than that by so much. */
const LATE_MS = 60_000;

/** Of gRPC. */
const NOT_FOUND = 5;
/** `PENDING_ACTIVITY_STATE_SCHEDULED` of Temporal's API: no attempt is under way. */
const SCHEDULED = 1;

interface Watch {
  client: Client;
  ledger: Pick<Ledger, "lostExecutions">;
  identity: string;
  log: { warn: (message: string, fields: Record<string, unknown>) => void };
  everyMs?: number;
  lateMs?: number;
}

/**
 * Ends, once a minute, attempts of at-most-once calls that Temporal shows as under way although their start-to-close
 * timeout is over. An activity that was paused as it ran, whose worker was lost, and that was unpaused stays so for
 * ever: the server has dropped its timer. Its run then reads the claim, as for any lost answer. Nothing is sent by it:
 * the claim's own deadline is over. Every worker process looks; an attempt ends once.
 * @returns what ends it
 */
export function endLostActivities(watch: Watch): () => Promise<void> {
  const { ledger, log, everyMs = EVERY_MS, lateMs = LATE_MS } = watch;
  return lookRegularly({
    look: async (sinceMs, signal) => {
      const startedAtMs = Date.now();
      for (const one of await ledger.lostExecutions(sinceMs)) {
        if (signal.aborted) return sinceMs;
        await endActivitiesOf(watch, one, lateMs);
      }
      // An hour, so that an attempt is met again when it is late enough.
      return startedAtMs - Math.max(60 * EVERY_MS, 10 * lateMs);
    },
    everyMs,
    log,
    failing: "attempts that stand still cannot be looked up now; it is tried again each minute",
  });
}

async function endActivitiesOf(
  { client, identity, log }: Watch,
  { workflowId, runId }: LostExecution,
  lateMs: number,
): Promise<void> {
  const { namespace } = client.options;
  const { raw } = await client.workflow
    .getHandle(workflowId, runId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return { raw: { pendingActivities: [] } };
      throw error;
    });
  for (const { activityId, activityType, state, lastStartedTime, activityOptions } of raw.pendingActivities ?? []) {
    const timeoutMs = milliseconds(activityOptions?.startToCloseTimeout);
    const startedAtMs = milliseconds(lastStartedTime);
    if (state === SCHEDULED || timeoutMs === undefined || startedAtMs === undefined) continue;
    if (Date.now() < startedAtMs + timeoutMs + lateMs) continue;
    const activity = activityType?.name ?? "";
    log.warn("an attempt whose time is long over was still shown as under way: it is ended", { workflowId, activity });
    const message = "Its worker was lost, and Temporal did not end it at its start-to-close timeout.";
    const failure = { message, source: "fiscalflow", applicationFailureInfo: { nonRetryable: true } };
    const by = { namespace, workflowId, runId, activityId: activityId ?? "", identity };
    await client.workflowService.respondActivityTaskFailedById({ ...by, failure }).catch((error: unknown) => {
      // Another worker was first.
      if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error;
    });
  }
}

interface Seconds {
  seconds?: { toString(): string } | null;
  nanos?: number | null;
}

function milliseconds(time: Seconds | null | undefined): number | undefined {
  return time ? Number(time.seconds ?? 0) * 1_000 + (time.nanos ?? 0) / 1_000_000 : undefined;
}
