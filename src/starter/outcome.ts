import { setTimeout as sleep } from "node:timers/promises";
import {
  ApplicationFailure,
  type Client,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";

import { holdsUpDocument } from "../contract/attention.ts";
import { isSuccessorAwaited } from "../contract/correction.ts";
import { outcomeOfState, type SaleOutcome, type WorkflowState } from "../contract/messages.ts";
import { type OutcomeRequest, UPDATES } from "../contract/updates.ts";
import { SETTLED_STAGES, STATE_QUERY } from "../contract/names.ts";
import { type KnownOutcome, outcomeOf, outcomeOfEnded, stateOfEnded } from "./state-of-sale.ts";
import { isWithoutAnswer, whyNobodyAnswers } from "./answered-in-time.ts";
import { boundMs, within } from "./bound.ts";
import { lastRunOf } from "./runs.ts";
import { type Asked, NotAllowedError, SaleConflictError, SaleFailedError, waitFor, workflowError } from "./errors.ts";
import type { SaleKey } from "./sale-key.ts";

/** One `outcome` update waits at most this long, so that nobody holds one of Temporal's ten for days. */
const ROUND_SECONDS = 20;
/**
 * Temporal takes 2,000 updates of a run. A caller who waits for hours looks at the state instead, which costs nothing.
 */
const MOST_ROUNDS = 5;
const LOOK_PAUSE_MS = 2_000;
/** How long a worker may be away before a caller is told that nobody answers, unless the caller's bound is sooner. */
const ANSWER_WITHIN_MS = 15_000;
/** A query that its workflow's end overtakes is lost without an answer; asked again, it finds the end. */
const QUERY_WITHIN_MS = 3_000;
const REATTACH_PAUSE_MS = 200;
/** Temporal's type of failure for an update that the workflow had accepted, and not answered, when it closed. */
const OVERTAKEN = "AcceptedUpdateCompletedWorkflow";

export interface Wait {
  workflowId: string;
  waitMs: number;
  fingerprint?: string;
  /** By which the ledger is asked, where no run of the sale is open; else by what Temporal has of the run. */
  sale?: SaleKey;
  /** May refuse to ask the ledger of a sale that Temporal does not know. */
  beforeLedger?: () => void;
  asked?: Asked;
  /** Starts the workflow and sends the update of the first round. */
  begin?: (request: OutcomeRequest) => Promise<SaleOutcome>;
}

/**
 * Until it is settled or needs an operator, else until the wait is over, in rounds that callers share
 * (docs/decisions/0002). A lost connection, a reset or a restarted server is re-attached to.
 * @throws SaleNotFoundError, SaleConflictError, SaleFailedError, NoAnswerError, NoWorkerError, TemporalUnavailableError
 */
export async function waitForOutcome(client: Client, wait: Wait): Promise<SaleOutcome | KnownOutcome> {
  const handle = client.workflow.getHandle(wait.workflowId);
  const deadlineMs = Date.now() + wait.waitMs;
  const answerByMs = Math.min(deadlineMs + ANSWER_WITHIN_MS, boundMs());
  let { begin } = wait;
  let round = begin ? 0 : undefined;
  for (let rounds = 0; ;) {
    try {
      if (begin) {
        const outcome = await beginRound(client, wait, begin, deadlineMs);
        if (endsWait(outcome) || Date.now() >= deadlineMs) return outcome;
        round = outcome.nextWait;
        begin = undefined;
      }
      if (round === undefined || rounds >= MOST_ROUNDS || Date.now() >= deadlineMs) {
        const seen = await look(client, handle, wait);
        // What the ledger tells, nothing carries on.
        if (endsWait(seen) || "source" in seen || Date.now() >= deadlineMs) return seen;
        if (rounds >= MOST_ROUNDS) await sleep(Math.min(LOOK_PAUSE_MS, Math.max(deadlineMs - Date.now(), 0)));
        else round = seen.nextWait;
        continue;
      }
      rounds++;
      const outcome = await waitOneRound(client, handle, wait, { round, deadlineMs });
      // Somebody else's round may have ended before this caller asked: then the next look tells what is true now.
      if (endsWait(outcome)) return outcome;
      round = outcome.nextWait;
    } catch (error) {
      if (!isAskedAgain(error)) throw error;
      if (Date.now() >= answerByMs) throw await whyNobodyAnswers(client, wait.asked ?? waitFor(wait.workflowId), error);
      await sleep(REATTACH_PAUSE_MS);
      round = undefined;
      begin = undefined;
    }
  }
}

/** The caller's own round: the workflow ends it in time, so that the answer comes with the word that it is started. */
async function beginRound(
  client: Client,
  { fingerprint }: Wait,
  begin: NonNullable<Wait["begin"]>,
  deadlineMs: number,
): Promise<SaleOutcome> {
  const waitMs = Math.min(Math.max(deadlineMs - Date.now(), 0), ROUND_SECONDS * 1000);
  const request = { waitSeconds: waitMs / 1000, ...(fingerprint !== undefined && { fingerprint }) };
  try {
    return await within(client, waitMs + ANSWER_WITHIN_MS, () => begin(request));
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError) || isAskedAgain(error)) throw error;
    throw workflowError(error.cause ?? error);
  }
}

async function waitOneRound(
  client: Client,
  handle: WorkflowHandle,
  { fingerprint }: Wait,
  { round, deadlineMs }: { round: number; deadlineMs: number },
): Promise<SaleOutcome | KnownOutcome> {
  const leftMs = deadlineMs - Date.now();
  const request = { waitSeconds: ROUND_SECONDS, ...(fingerprint !== undefined && { fingerprint }) };
  const updateId = `outcome:${fingerprint ?? "any"}:${round}`;
  try {
    return await within(client, Math.min(leftMs, (ROUND_SECONDS + 1) * 1000), () =>
      handle.executeUpdate<SaleOutcome, [OutcomeRequest]>(UPDATES.outcome, { args: [request], updateId }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError) || isAskedAgain(error)) throw error;
    const refused = workflowError(error.cause ?? error);
    // So often that only the state still answers.
    if (refused instanceof NotAllowedError)
      return await look(client, handle, { workflowId: handle.workflowId, waitMs: 0 });
    throw refused;
  }
}

/**
 * What is true now: an open workflow is asked, and one that completed has its result. Of anything else the ledger tells.
 * @throws SaleNotFoundError, SaleConflictError, InvalidInputError
 */
async function look(client: Client, handle: WorkflowHandle, wait: Wait): Promise<SaleOutcome | KnownOutcome> {
  const run = await within(client, QUERY_WITHIN_MS, () => lastRunOf(client, handle.workflowId));
  if (!run) wait.beforeLedger?.();
  if (run?.status.name === "FAILED") return await lookAtFailed(client, handle, { run, wait });
  if (run?.status.name !== "RUNNING") return await outcomeOfEnded(client, run, wait.sale);
  const state = await within(client, QUERY_WITHIN_MS, () => handle.query<WorkflowState>(STATE_QUERY));
  requireSame(state, wait);
  return outcomeOfState(state);
}

/** Another start may have failed: then the number is still the sale's that an earlier run has begun. */
async function lookAtFailed(
  client: Client,
  handle: WorkflowHandle,
  { run, wait }: { run: WorkflowExecutionDescription; wait: Wait },
): Promise<KnownOutcome> {
  const { fingerprint, sale } = wait;
  const refusal = await refusalOf(handle);
  if (refusal && fingerprint !== undefined && run.memo?.["fingerprint"] === fingerprint) throw refusal;
  const state = await stateOfEnded(client, run, sale);
  if (refusal && state.closed?.refused) throw refusal;
  requireSame(state, wait);
  return outcomeOf(state);
}

/** @throws SaleConflictError where the caller means another sale */
function requireSame({ fingerprint: known }: Pick<WorkflowState, "fingerprint">, wait: Wait): void {
  const { fingerprint, sale, workflowId } = wait;
  if (fingerprint !== undefined && known !== undefined && known !== fingerprint)
    throw SaleConflictError.ofOtherContent(sale?.invoice ?? workflowId);
}

/** What the caller is to correct, where the last run failed for that. */
async function refusalOf(handle: WorkflowHandle): Promise<Error | undefined> {
  try {
    await handle.result();
    return undefined;
  } catch (error) {
    const correctable = error instanceof WorkflowFailedError ? workflowError(error.cause ?? error) : undefined;
    return correctable instanceof SaleFailedError ? undefined : correctable;
  }
}

/**
 * Nobody was there to answer; or the workflow has closed, which no new update reaches, and with which those that it had
 * taken up end: the next look finds how.
 */
function isAskedAgain(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError || isWithoutAnswer(error)) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === OVERTAKEN;
}

/** Settled, or held up until an operator has acted; or nothing carries it on. */
export function endsWait({ stage, attention, correction, stockMovements, closed }: SaleOutcome): boolean {
  if (closed || (attention !== undefined && holdsUpDocument(attention, stockMovements))) return true;
  return SETTLED_STAGES.includes(stage) && !isSuccessorAwaited(correction);
}
