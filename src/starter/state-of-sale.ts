import type { Client, WorkflowExecutionDescription } from "@temporalio/client";

import { FAILURES } from "../contract/errors.ts";
import { type ClosedRun, endedInWords } from "../contract/closed-run.ts";
import type { FoundSale } from "../contract/records.ts";
import { NO_BUSINESS } from "../contract/ids.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { DEFAULT_CONNECTION, SEARCH_ATTRIBUTES, STATE_QUERY, UPDATES, WORKFLOW_TYPES } from "../contract/names.ts";
import { nairobiTime } from "../contract/nairobi-date.ts";
import type { SaleOutcome } from "../contract/sale.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import { firstTrouble } from "../contract/service-trouble.ts";
import { type FromWorkflow, type KnownOutcome, ledgerState, outcomeOf, type SaleState } from "./answer-from-ledger.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { attributesOf } from "./attributes.ts";
import { TEMPORAL_WITHIN_MS, within } from "./bound.ts";
import { closedRunOf, lastRunOf, refusalOf, type RunFacts } from "./closed-run.ts";
import { NotAllowedError, SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { queryOf } from "./no-answer.ts";
import { type PendingCall, pendingCallsOf, waitsForInstead } from "./pending-calls.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";

/**
 * What is known of a sale: a live run is asked, and anything else is its row in the ledger.
 * @param beforeLedger may refuse to ask the ledger of a sale that Temporal does not know
 * @throws SaleNotFoundError, NoAnswerError, LedgerAwayError
 */
export async function stateOfSale(client: Client, key: SaleKey, beforeLedger = (): void => {}): Promise<SaleState> {
  const workflowId = saleIdOf(key);
  const run = await within(client, TEMPORAL_WITHIN_MS, () => lastRunOf(client, workflowId));
  if (!run) beforeLedger();
  if (run?.status.name !== "RUNNING") return await stateOfEnded(client, run, key);
  const ask = () => client.workflow.getHandle(workflowId).query<WorkflowState>(STATE_QUERY);
  const state = await answeredInTime(client, queryOf(workflowId), ask);
  return withPendingCalls(state, pendingCallsOf(client, run));
}

/** The workflow does not see the attempts of its activities: what they have met is its trouble too. */
function withPendingCalls(state: WorkflowState, pendingCalls: PendingCall[]): WorkflowState & FromWorkflow {
  if (pendingCalls.length === 0) return { ...state, source: "workflow" };
  const serviceTrouble = firstTrouble([state.serviceTrouble, ...pendingCalls.map(({ trouble }) => trouble)]);
  const waitingFor = waitsForInstead(pendingCalls) ?? state.waitingFor;
  return { ...state, waitingFor, ...(serviceTrouble && { serviceTrouble }), pendingCalls, source: "workflow" };
}

/**
 * What is known of a sale that no run carries on. Its row says all of it but how the last run has ended, which Temporal
 * may know sooner.
 * @param run the last one; undefined where Temporal knows none
 * @param key absent: as the run's own attributes have it
 * @throws SaleNotFoundError, NoAnswerError, LedgerAwayError
 */
export async function stateOfEnded(
  client: Client,
  run: WorkflowExecutionDescription | undefined,
  key: SaleKey | undefined = run && keyOfRun(run),
): Promise<SaleState> {
  const closed = run && (await closedRunOf(client, run));
  const found = key && (await foundSale(client, key, closed !== undefined));
  const refusal = run && (await refusalOf(client, run));
  // What another content was refused for is not what was asked for.
  if (closed && (!found || (refusal === FAILURES.conflict && !found.failed)))
    return withoutRow(closed, refusal !== undefined);
  if (!found) throw new SaleNotFoundError(run?.workflowId ?? "");
  const { closed: _marked, ...row } = found;
  if (run?.status.name === "COMPLETED") return ledgerState(row);
  // What was refused says nothing of a sale that an earlier run has begun.
  if (!closed || (refusal !== undefined && !found.failed)) return ledgerState(found);
  const ended: ClosedRun = { ...closed, ...howItStands(found, refusal !== undefined) };
  return { ...ledgerState({ ...row, closed: ended }), waitingFor: waitingForAfter(ended) };
}

function waitingForAfter(closed: ClosedRun): string {
  const next = closed.refused
    ? "nothing was sent: correct what was refused, and start it again"
    : closed.settled
      ? "nothing is left to do, and a refund works without a restart"
      : "nobody carries it on until it is restarted";
  return `nothing: its workflow ${endedInWords(closed)}; ${next}`;
}

/** As {@link stateOfEnded}, for whoever waits. Of a run that completed no worker is needed: its result is the whole sale. */
export async function outcomeOfEnded(
  client: Client,
  run: WorkflowExecutionDescription | undefined,
  key?: SaleKey,
): Promise<SaleOutcome | KnownOutcome> {
  if (run?.status.name === "COMPLETED") return await resultOf(client, run);
  return outcomeOf(await stateOfEnded(client, run, key));
}

async function resultOf(client: Client, { workflowId, runId }: RunFacts): Promise<SaleOutcome> {
  return (await client.workflow.getHandle(workflowId, runId).result()) as SaleOutcome;
}

/** Of a run that ended without an outcome: whether a restart has anything to carry on. */
export function needsRestart({ closed }: Pick<SaleState, "closed">): boolean {
  return closed !== undefined && closed.refused !== true && closed.settled !== true;
}

/** What is left to do about a sale: in words, which follow a sentence, and which updates are allowed. */
interface LeftToDo {
  words: string;
  allowed: readonly string[];
}

const TO_BE_REFUNDED: LeftToDo = { words: " It is completed. Allowed: a refund.", allowed: [UPDATES.refund] };

/** Of a sale that has finished. No worker is needed. */
export async function leftToDo(client: Client, run: RunFacts): Promise<LeftToDo> {
  const { stage, creditNote, numberTaken } = await resultOf(client, run);
  if (stage === "cancelled") {
    const number = numberTaken ? ", under another number" : "";
    const words = ` It is cancelled, and was not signed. If it is to be sold after all, start it again${number}.`;
    return { words, allowed: [] };
  }
  if (stage !== "credited") return TO_BE_REFUNDED;
  const by = creditNote ? ` by ${creditNote.traderInvoiceNumber}` : "";
  return { words: ` It is credited${by}: nothing is left to do.`, allowed: [] };
}

/**
 * Why no update reaches a sale that is closed, and what is possible in its place.
 * Undefined for other workflows, and where Temporal knows no such workflow.
 */
export async function refusedByClosed(client: Client, workflowId: string): Promise<NotAllowedError | undefined> {
  const run = await lastRunOf(client, workflowId);
  if (run?.type !== WORKFLOW_TYPES.sale || run.status.name === "RUNNING") return undefined;
  if (run.status.name === "COMPLETED") {
    const { words, allowed } = await leftToDo(client, run);
    const finished = `The sale ${workflowId} is finished and closed: it waits for nothing.${words}`;
    return new NotAllowedError(finished, [], allowed);
  }
  const { stage, closed } = await stateOfEnded(client, run);
  if (!closed) return undefined;
  const ended = `The workflow ${workflowId} ${endedInWords(closed)} on ${nairobiTime(closed.atMs)}: no update reaches it`;
  const { words, allowed } = TO_BE_REFUNDED;
  return closed.settled && stage === "completed"
    ? new NotAllowedError(`${ended}, and nothing is left to do in it.${words}`, [], allowed)
    : new NotAllowedError(
        `${ended}, and nothing carries it on. Allowed: restart it (\`fiscalflow sale restart\`), then answer what it asks.`,
        [],
        ["restart"],
      );
}

function howItStands({ isThrough }: FoundSale, refused: boolean): Pick<ClosedRun, "refused" | "settled"> {
  if (refused) return { refused: true };
  return isThrough ? { settled: true } : {};
}

/** Undefined where the ledger does not know it, and somebody else does. */
async function foundSale(client: Client, key: SaleKey, isKnown: boolean): Promise<FoundSale | undefined> {
  try {
    return await findClosedSale(client, key);
  } catch (error) {
    // No worker has the connection that a start was refused for.
    const hasNone = error instanceof SaleNotFoundError || error instanceof InvalidInputError;
    if (isKnown && hasNone) return undefined;
    throw error;
  }
}

/** Of a run that ended before it had opened a row, and so before it could send anything. */
function withoutRow(closed: ClosedRun, refused: boolean): SaleState {
  const ended: ClosedRun = { ...closed, ...(refused && { refused: true }) };
  return {
    stage: "resolving-items",
    waitingFor: waitingForAfter(ended),
    attentions: [],
    document: null,
    stockMovements: [],
    decisions: [],
    callbacksReceived: 0,
    numberTaken: false,
    nextWait: 0,
    source: "workflow",
    closed: ended,
  };
}

/** The sale of a run, as a list of Temporal finds it; undefined where nobody has named it. */
function keyOfRun(run: WorkflowExecutionDescription): SaleKey | undefined {
  const attributes = attributesOf(run);
  const invoice = attributes.get(SEARCH_ATTRIBUTES.invoice);
  if (invoice === undefined) return undefined;
  const connection = run.workflowId.split("/")[1] ?? DEFAULT_CONNECTION;
  const businessId = attributes.get(SEARCH_ATTRIBUTES.business);
  return { invoice, connection, ...(businessId !== undefined && businessId !== NO_BUSINESS && { businessId }) };
}
