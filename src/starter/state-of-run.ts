import type { Client, WorkflowExecutionDescription } from "@temporalio/client";

import { FAILURES } from "../contract/calls.ts";
import { type ClosedRun, endedInWords } from "../contract/closed-run.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { STATE_QUERY } from "../contract/names.ts";
import { restartedOf } from "../contract/restarted.ts";
import { firstTrouble } from "../contract/service-trouble.ts";
import { type FromWorkflow, ledgerState, type SaleState } from "./answer-from-ledger.ts";
import { answeredInTime, isUnreadable } from "./answered-in-time.ts";
import { TEMPORAL_WITHIN_MS, within } from "./bound.ts";
import { closedRunOf, hasNoWorkLeft, refusalOf, wasRefusedEachTime } from "./closed-run.ts";
import { LedgerAwayError, SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { NoAnswerError, queryOf } from "./no-answer.ts";
import { type PendingCall, pendingCallsOf, waitsForInstead } from "./pending-calls.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";
import { fromLedgerInstead } from "./unreadable-run.ts";

/**
 * What a sale's last run says, and how it ended. For a closed run that cannot be read the ledger answers.
 * @throws WorkflowNotFoundError, NoAnswerError, LedgerAwayError, SaleFailedError
 */
export async function stateOfRun(client: Client, key: SaleKey): Promise<SaleState> {
  const workflowId = saleIdOf(key);
  const handle = client.workflow.getHandle(workflowId);
  const run = await within(client, TEMPORAL_WITHIN_MS, () => handle.describe());
  const closed = await closedRunOf(client, run);
  const ask = () => answeredInTime(client, queryOf(workflowId), () => handle.query<WorkflowState>(STATE_QUERY));
  let state: SaleState;
  try {
    // Of a run that ended in the middle of a call, Temporal still tells that call.
    state = withPendingCalls(await ask(), closed ? [] : pendingCallsOf(client, run));
  } catch (error) {
    if (run.status.name === "RUNNING" || !isUnreadable(error)) throw error;
    state = ledgerState(await fromLedgerInstead(client, key, closed));
  }
  if (!closed) return carriesOn(run) ? await withKeptDocument(client, key, state) : state;
  state = await withDecidedMovements(client, key, state);
  const refusal = await refusalOf(client, run);
  const isRefused = refusal !== undefined && (await hasSentNothing(client, run, state, refusal));
  const isSettled = !isRefused && hasNoWorkLeft(state);
  const next = isRefused
    ? "nothing was sent: correct what was refused, and start it again"
    : isSettled
      ? "nothing is left to do, and a refund works without a restart"
      : "nobody carries it on until it is restarted";
  const waitingFor = `nothing: its workflow ${endedInWords(closed)}; ${next}`;
  // What a call of it has met says nothing any more.
  const { serviceTrouble: _, ...last } = state;
  const ended: ClosedRun = { ...closed, ...(isRefused && { refused: true }), ...(isSettled && { settled: true }) };
  return { ...last, waitingFor, closed: ended };
}

/** Of a run that was refused. What it carries on may have sent something. */
async function hasSentNothing(
  client: Client,
  run: WorkflowExecutionDescription,
  { document, numberTaken }: SaleState,
  refusal: string,
): Promise<boolean> {
  // That the number is another document's shows when it is to be sent, and in place of that.
  if (refusal !== FAILURES.conflict) return !carriesOn(run) && !numberTaken;
  return !document && (!carriesOn(run) || (await wasRefusedEachTime(client, run.workflowId, refusal)));
}

/** Of a run that ended without an outcome: whether a restart has anything to carry on. */
export function needsRestart({ closed }: SaleState): boolean {
  return closed !== undefined && closed.refused !== true && closed.settled !== true;
}

/** The workflow does not see the attempts of its activities: what they have met is its trouble too. */
function withPendingCalls(state: WorkflowState, pendingCalls: PendingCall[]): WorkflowState & FromWorkflow {
  if (pendingCalls.length === 0) return { ...state, source: "workflow" };
  const serviceTrouble = firstTrouble([state.serviceTrouble, ...pendingCalls.map(({ trouble }) => trouble)]);
  const waitingFor = waitsForInstead(pendingCalls) ?? state.waitingFor;
  return { ...state, waitingFor, ...(serviceTrouble && { serviceTrouble }), pendingCalls, source: "workflow" };
}

/** Whether it was restarted, or is what a reset made. */
function carriesOn({ memo, runId, raw }: WorkflowExecutionDescription): boolean {
  return restartedOf(memo) !== undefined || raw.workflowExecutionInfo?.firstRunId !== runId;
}

/**
 * What became of a movement whose answer was lost, an operator may have said after its run had ended, or a late answer:
 * its claim in the ledger knows.
 */
async function withDecidedMovements(client: Client, key: SaleKey, state: SaleState): Promise<SaleState> {
  const isOpen = ({ state: of }: { state: string }): boolean => of === "unknown" || of === "sending";
  if (state.source === "ledger" || !state.stockMovements.some(isOpen)) return state;
  const kept = await keptSale(client, key);
  const decided = new Map(kept?.stockMovements.filter((one) => !isOpen(one)).map((one) => [one.referenceId, one]));
  const stockMovements = state.stockMovements.map((one) => (isOpen(one) && decided.get(one.referenceId)) || one);
  const attentions = state.attentions.filter(
    ({ code, subject = "" }) => code !== "stock-unknown" || !decided.has(subject),
  );
  return { ...state, stockMovements, attentions };
}

/**
 * A run that carries on another one may have to wait for the service before it knows the sale's document, which the
 * ledger knows.
 */
async function withKeptDocument(client: Client, key: SaleKey, state: SaleState): Promise<SaleState> {
  if (state.document) return state;
  const kept = await keptSale(client, key);
  return kept ? { ...state, document: kept.document } : state;
}

/** Undefined where the ledger does not know it, or does not answer. */
async function keptSale(client: Client, key: SaleKey): Promise<SaleState | undefined> {
  try {
    return ledgerState(await findClosedSale(client, key));
  } catch (error) {
    const isUnknown = [LedgerAwayError, NoAnswerError, SaleNotFoundError].some((kind) => error instanceof kind);
    if (isUnknown) return undefined;
    throw error;
  }
}
