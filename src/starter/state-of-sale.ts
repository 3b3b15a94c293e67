import type { Client, WorkflowExecutionDescription } from "@temporalio/client";

import { attentionOfCreditNote } from "../contract/attention.ts";
import type { FoundSale, KeptDocument } from "../contract/document-calls.ts";
import { FAILURES } from "../contract/errors.ts";
import { NO_BUSINESS } from "../contract/ids.ts";
import {
  type ClosedRun,
  endedInWords,
  outcomeOfState,
  type SaleOutcome,
  type WorkflowState,
} from "../contract/messages.ts";
import { nairobiTime } from "../contract/nairobi-date.ts";
import {
  DEFAULT_CONNECTION,
  SEARCH_ATTRIBUTES,
  SETTLED_STAGES,
  STATE_QUERY,
  WORKFLOW_TYPES,
} from "../contract/names.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import type { SaleStart } from "../contract/schema/sale.ts";
import { firstTrouble } from "../contract/service-trouble.ts";
import { UPDATES } from "../contract/updates.ts";
import { ANSWER_WITHIN_MS, answeredInTime } from "./answered-in-time.ts";
import { findClosedSale } from "./ask-ledger.ts";
import { TEMPORAL_WITHIN_MS, within } from "./bound.ts";
import { NotAllowedError, queryOf, SaleNotFoundError } from "./errors.ts";
import {
  endOf,
  lastCompletedRun,
  lastRunOf,
  type PendingCall,
  pendingCallsOf,
  type RunEnd,
  type RunFacts,
  runOf,
  startOfRun,
  waitsForInstead,
} from "./runs.ts";
import { attributesOf, saleIdOf, type SaleKey } from "./sale-key.ts";

/**
 * What is known of a sale: a live run is asked, and anything else is its row in the ledger.
 * @param beforeLedger may refuse to ask the ledger of a sale that Temporal does not know
 * @param answerWithinMs for a live run; the ledger has its own time
 * @throws SaleNotFoundError, NoAnswerError, LedgerAwayError
 */
export async function stateOfSale(
  client: Client,
  key: SaleKey,
  beforeLedger = (): void => {},
  answerWithinMs = ANSWER_WITHIN_MS,
): Promise<SaleState> {
  const workflowId = saleIdOf(key);
  const run = await within(client, TEMPORAL_WITHIN_MS, () => lastRunOf(client, workflowId));
  if (!run) beforeLedger();
  if (run?.status.name !== "RUNNING") return await stateOfEnded(client, run, key);
  const ask = () => client.workflow.getHandle(workflowId).query<WorkflowState>(STATE_QUERY);
  const state = await answeredInTime(client, queryOf(workflowId), ask, { withinMs: answerWithinMs });
  return withPendingCalls(state, await pendingCallsOf(client, run));
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
 * @param named absent: as the run itself has it
 * @throws SaleNotFoundError, NoAnswerError, LedgerAwayError
 */
export async function stateOfEnded(
  client: Client,
  run: WorkflowExecutionDescription | undefined,
  named?: SaleKey,
): Promise<SaleState> {
  const key = named ?? (run && (await keyOfRun(client, run)));
  const last = run && (await endOf(client, run));
  const { closed, refusal } = last ?? {};
  const isCompleted = run?.status.name === "COMPLETED";
  const found = key && (await foundSale(client, key, closed !== undefined || isCompleted));
  if (!found) {
    // A database that was restored may have lost it; a run that was to refund it then has found nothing.
    const completed = isCompleted ? run : run && refusal === FAILURES.notFound && (await lastCompletedRun(client, run));
    if (completed) return stateOfResult(await resultOf(client, completed));
    if (closed) return stateWithoutRow(closed, refusal !== undefined);
    throw SaleNotFoundError.of(run?.workflowId ?? "");
  }
  if (isCompleted) {
    const { closed: _marked, ...row } = found;
    return ledgerState(row);
  }
  if (!closed || refusal === undefined || found.failed) return stateAsEnded(found, last);
  // What is held for the corrected sale of another one is not what was asked for.
  const isSpokenFor = found.document !== null || found.numberTaken;
  if (refusal === FAILURES.conflict && !isSpokenFor) return stateWithoutRow(closed, true);
  // What was refused says nothing of a sale that an earlier run has begun: how that one ended does.
  const state = stateAsEnded(found, await endOfEarlier(client, found, run));
  const { reason = refusal } = closed;
  return { ...state, waitingFor: `${state.waitingFor}; another start of its number was refused: ${reason}` };
}

/** How the run ended that has written the row; undefined where that completed, or Temporal has deleted it. */
async function endOfEarlier(
  client: Client,
  { keptBy: { workflowId, runId } }: FoundSale,
  refused: RunFacts | undefined,
): Promise<RunEnd | undefined> {
  const writer = runId === refused?.runId ? undefined : await runOf(client, workflowId, runId);
  return writer && (await endOf(client, writer));
}

function stateAsEnded(found: FoundSale, end: RunEnd | undefined): LedgerState {
  if (!end) return ledgerState(found);
  const ended: ClosedRun = { ...end.closed, ...howItStands(found, end.refusal !== undefined) };
  return { ...ledgerState({ ...found, closed: ended }), waitingFor: waitingForAfter(ended) };
}

function waitingForAfter(closed: ClosedRun): string {
  const next = closed.refused
    ? "nothing was sent: correct what was refused, and start it again"
    : closed.settled
      ? "nothing is left to do, and a refund works without a restart"
      : "nobody carries it on until it is restarted";
  return `nothing: its workflow ${endedInWords(closed)}; ${next}`;
}

/**
 * As {@link stateOfEnded}, for a caller who waits. Of a run that completed no worker is needed: its result is the whole
 * sale.
 */
export async function outcomeOfEnded(
  client: Client,
  run: WorkflowExecutionDescription | undefined,
  key?: SaleKey,
): Promise<SaleOutcome | KnownOutcome> {
  if (run?.status.name === "COMPLETED") return await resultOf(client, run);
  return outcomeOf(await stateOfEnded(client, run, key));
}

export async function resultOf(client: Client, { workflowId, runId }: RunFacts): Promise<SaleOutcome> {
  return (await client.workflow.getHandle(workflowId, runId).result()) as SaleOutcome;
}

/** Of a run that ended without an outcome: whether a restart has anything to carry on. */
export function needsRestart({ closed }: Pick<SaleState, "closed">): boolean {
  return closed !== undefined && closed.refused !== true && closed.settled !== true;
}

/** What is left to do about a sale that is through: in words, which follow a sentence, and which updates are allowed. */
export function leftToDo({
  stage,
  creditNote,
  numberTaken,
}: Pick<SaleOutcome, "stage" | "creditNote" | "numberTaken">): { words: string; allowed: readonly string[] } {
  if (stage === "cancelled") {
    const number = numberTaken ? ", under another number" : "";
    const words = ` It is cancelled, and was not signed. If it is to be sold after all, start it again${number}.`;
    return { words, allowed: [] };
  }
  if (stage !== "credited") return { words: " It is completed. Allowed: a refund.", allowed: [UPDATES.refund] };
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
  if (run.status.name === "COMPLETED") return finishedAs(workflowId, await resultOf(client, run));
  return refusedAsEnded(workflowId, await stateOfEnded(client, run));
}

/** As {@link refusedByClosed}, of a sale whose last run did not complete. */
export function refusedAsEnded(workflowId: string, state: SaleState): NotAllowedError | undefined {
  const { closed, stage } = state;
  if (!closed) return SETTLED_STAGES.includes(stage) ? finishedAs(workflowId, state) : undefined;
  const ended = `The workflow ${workflowId} ${endedInWords(closed)} on ${nairobiTime(closed.atMs)}: no update reaches it`;
  const { words, allowed } = leftAsEnded(state, closed);
  const left = closed.settled ? "nothing is left to do in it" : "nothing carries it on";
  return new NotAllowedError(`${ended}, and ${left}.${words}`, [], allowed);
}

function leftAsEnded(state: SaleState, { refused, settled }: ClosedRun): ReturnType<typeof leftToDo> {
  if (settled) return leftToDo(state);
  return refused
    ? {
        words: " What was asked of it was refused, and nothing was sent: correct that, and start it again.",
        allowed: [],
      }
    : { words: " Allowed: restart it (`fiscalflow sale restart`), then answer what it asks.", allowed: ["restart"] };
}

function finishedAs(workflowId: string, outcome: Parameters<typeof leftToDo>[0]): NotAllowedError {
  const { words, allowed } = leftToDo(outcome);
  const finished = `The sale ${workflowId} is finished and closed: it waits for nothing.${words}`;
  return new NotAllowedError(finished, [], allowed);
}

function howItStands({ isThrough }: FoundSale, refused: boolean): Pick<ClosedRun, "refused" | "settled"> {
  if (refused) return { refused: true };
  return isThrough ? { settled: true } : {};
}

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
function stateWithoutRow(closed: ClosedRun, refused: boolean): SaleState {
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

/** Of a run whose row the ledger has not. */
function stateOfResult({ sale, receipt: _inSale, attention, ...known }: SaleOutcome): SaleState {
  return {
    ...known,
    document: sale,
    waitingFor: "nothing",
    attentions: attention ? [attention] : [],
    decisions: [],
    callbacksReceived: 0,
    source: "workflow",
  };
}

/** The sale of a run, as a list of Temporal finds it, else as its input names it. */
export async function keyOfRun(client: Client, run: WorkflowExecutionDescription): Promise<SaleKey | undefined> {
  const [, connection = DEFAULT_CONNECTION, ofId] = run.workflowId.split("/");
  const attributes = attributesOf(run);
  const invoice = attributes.get(SEARCH_ATTRIBUTES.invoice);
  const businessId = invoice === undefined ? ofId : attributes.get(SEARCH_ATTRIBUTES.business);
  const of = { connection, ...(businessId !== undefined && businessId !== NO_BUSINESS && { businessId }) };
  if (invoice !== undefined) return { invoice, ...of };
  // No starter has named it, and a run that was refused at once has not named itself.
  const { traderInvoiceNumber } = ((await startOfRun(client, run)).input ?? {}) as Partial<SaleStart>;
  if (typeof traderInvoiceNumber !== "string") return undefined;
  const key = { invoice: traderInvoiceNumber, ...of };
  return saleIdOf(key) === run.workflowId ? key : undefined;
}

/** Beside an answer of the ledger: no workflow of the sale is open, so no message reaches it. */
export interface FromLedger extends Pick<KeptDocument, "keptAtMs" | "keptBy" | "closed" | "replaces"> {
  source: "ledger";
}

/** Beside an answer of a workflow that is open, or that ended and of which the ledger has no row. */
export interface FromWorkflow {
  source: "workflow";
  /** Set where the workflow ended without an outcome: the rest is what was true then. */
  closed?: ClosedRun;
  /** Calls to the API that it waits for, where one is retried, goes on for seconds, or waits for a worker. */
  pendingCalls?: PendingCall[];
}

export type LedgerState = WorkflowState & FromLedger;

export type SaleState = (WorkflowState & FromWorkflow) | LedgerState;

/** The outcome of a sale, and where it is known from. */
export type KnownOutcome = SaleOutcome & (Omit<FromWorkflow, "pendingCalls"> | FromLedger);

export function ledgerState(found: FoundSale): LedgerState {
  const { creditNote: note, document, fingerprint, correction, replaces } = found;
  const { numberTaken, inAll, keptAtMs, keptBy, closed, isThrough, cancelRequested } = found;
  const both = note ? [found, note] : [found];
  const ofNote = note?.attentions.map((one) => attentionOfCreditNote(note.number, one)) ?? [];
  const attentions = [...found.attentions, ...ofNote];
  const { movements: stockMovements } = found;
  // The credit note may have been written down as its run ended.
  const stage = note?.stage === "credited" ? note.stage : found.stage;
  // A credit note that was given up refunds nothing.
  const refund = found.refund ?? (note?.stage === "cancelled" ? undefined : note?.refund);
  return {
    stage,
    waitingFor: isThrough ? "nothing" : "nothing: no workflow carries it on until the same sale is started again",
    attentions,
    document,
    ...(note?.document && { creditNote: note.document }),
    ...(refund && { refund }),
    ...(correction && { correction }),
    ...(replaces !== undefined && { replaces }),
    stockMovements,
    decisions: both.flatMap((one) => one.decisions).toSorted((one, other) => one.atMs - other.atMs),
    ...(inAll && { inAll }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    callbacksReceived: 0,
    ...(fingerprint !== undefined && { fingerprint }),
    numberTaken,
    nextWait: 0,
    source: "ledger",
    keptAtMs,
    keptBy,
    ...(closed && { closed }),
  };
}

export function outcomeOf(state: SaleState): KnownOutcome {
  const { closed } = state;
  const from =
    state.source === "ledger"
      ? { source: state.source, keptAtMs: state.keptAtMs, keptBy: state.keptBy }
      : { source: state.source };
  return { ...outcomeOfState(state), ...from, ...(closed && { closed }) };
}
