import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  isGrpcDeadlineError,
  isGrpcServiceError,
  type WorkflowHandle,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";

import { type SaleOutcome, SETTLED_STAGES, STATE_QUERY, UPDATES, type WorkflowState } from "../contract/index.ts";
import { NoAnswerError, SaleNotFoundError, workflowError } from "./errors.ts";

/** One `outcome` update waits at most this long, so that nobody holds one of Temporal's ten for days. */
const ROUND_SECONDS = 20;
/** How long an answer may take beyond the wait itself: a worker must be there to give it. */
const ANSWER_WITHIN_MS = 15_000;
/** A query that its workflow's end overtakes is lost without an answer; asked again, it finds the end. */
const QUERY_WITHIN_MS = 3_000;
const REATTACH_PAUSE_MS = 200;

export interface Wait {
  workflowId: string;
  /** How long to wait for the outcome; 0 asks for what is true now. */
  waitMs: number;
  /** Refused where the workflow's content is another. */
  fingerprint?: string;
  /** The first round to join; default: the present one. A workflow that was just started is in round 0. */
  round?: number;
}

/**
 * Waits for the outcome in rounds: until it is settled or needs a person, else until the wait is over. Whoever waits in the same round
 * shares one update, so that any number may wait; a lost connection, a reset or a restarted server is re-attached to.
 * @throws SaleNotFoundError, SaleConflictError, SaleFailedError, NoAnswerError
 */
export async function waitForOutcome(client: Client, wait: Wait): Promise<SaleOutcome> {
  const handle = client.workflow.getHandle(wait.workflowId);
  const deadlineMs = Date.now() + wait.waitMs;
  const answerByMs = deadlineMs + ANSWER_WITHIN_MS;
  let round = wait.round;
  for (;;) {
    try {
      round ??= await presentRound(client, handle);
      const waitSeconds = Math.min(Math.max(Math.ceil((deadlineMs - Date.now()) / 1000), 0), ROUND_SECONDS);
      const { fingerprint } = wait;
      const outcome = await client.withDeadline(Date.now() + waitSeconds * 1000 + ANSWER_WITHIN_MS, () =>
        handle.executeUpdate<SaleOutcome, [object]>(UPDATES.outcome, {
          args: [{ waitSeconds, ...(fingerprint !== undefined && { fingerprint }) }],
          updateId: `outcome:${fingerprint ?? "any"}:${round}`,
        }),
      );
      if (SETTLED_STAGES.includes(outcome.stage) || outcome.attention || Date.now() >= deadlineMs) return outcome;
      round = outcome.nextWait;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return await closedOutcome(handle);
      if (error instanceof WorkflowUpdateFailedError) throw workflowError(error.cause ?? error);
      if (!isPassing(error)) throw error;
      if (Date.now() >= answerByMs) throw new NoAnswerError(wait.workflowId, error);
      await sleep(REATTACH_PAUSE_MS);
      round = undefined;
    }
  }
}

async function presentRound(client: Client, handle: WorkflowHandle): Promise<number> {
  const state = await client.withDeadline(Date.now() + QUERY_WITHIN_MS, () => handle.query<WorkflowState>(STATE_QUERY));
  return state.nextWait;
}

/** @throws SaleNotFoundError, SaleFailedError */
async function closedOutcome(handle: WorkflowHandle): Promise<SaleOutcome> {
  try {
    return (await handle.result()) as SaleOutcome;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw new SaleNotFoundError(handle.workflowId);
    if (error instanceof WorkflowFailedError) throw workflowError(error.cause ?? error);
    throw error;
  }
}

/** The server, or whoever answers for the workflow, was not there; what was asked is harmless to ask again. */
function isPassing(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) return true;
  const UNAVAILABLE = 14;
  return isGrpcServiceError(error) && error.code === UNAVAILABLE;
}
