import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { z } from "zod";

import { nairobiDate } from "../contract/nairobi-date.ts";
import { RESTARTED_MEMO, type Restarted, restartedOf } from "../contract/restarted.ts";
import type { WorkflowState } from "../contract/messages.ts";
import type { SaleDocument } from "../contract/documents.ts";
import type { Refund, SaleInput } from "../contract/sale.ts";
import { InvalidInputError, parseInput } from "../contract/schema/parse-input.ts";
import { refundRequestSchema, refundSchema } from "../contract/schema/refund-request.ts";
import { restartRequestSchema } from "../contract/schema/updates.ts";
import {
  CANCELLED_IN_TEMPORAL,
  MAIN_TASK_QUEUE,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  STATE_QUERY,
  WORKFLOW_TYPES,
} from "../contract/names.ts";
import { answeredInTime, isOfRunNeverBegun, isUnreadable } from "./answered-in-time.ts";
import { closedRunOf, leftToDo, type LeftToDo, SEE_ITS_CREDIT_NOTE } from "./closed-run.ts";
import { NotAllowedError, SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { inputOfRun, type Unread, unreadOfRun } from "./input-of-run.ts";
import { laterCreditNote } from "./later-credit-note.ts";
import { queryOf } from "./no-answer.ts";
import { saleKeyOf } from "./sale-key.ts";

export interface RestartRequest {
  /** Why, in a few words; kept among the sale's decisions. */
  note: string;
  /** Who answers for it; default: the caller's identity. */
  by?: string | undefined;
}

export interface RestartReply {
  workflowId: string;
  /** The run that carries it on. */
  runId: string;
  /** `restarted`: by this call. `running`: somebody else's restart came first, and this call started nothing. */
  result: "restarted" | "running";
}

/** What lives of the attributes of the run before: the new one sets the others. */
const KEPT_ATTRIBUTES: readonly string[] = [SEARCH_ATTRIBUTES.business, SEARCH_ATTRIBUTES.invoice];
const RESTARTABLE: readonly string[] = [WORKFLOW_TYPES.sale, WORKFLOW_TYPES.creditNote];

/**
 * Starts a sale or a credit note anew, with the input and the requests of its last run, where that was terminated,
 * failed or timed out. The new run takes over the document, the movements and the decisions of the runs before
 * (https://github.com/fiscalflow/fiscalflow/blob/main/docs/failure-model.md, "What may be done in Temporal's
 * UI"). Temporal itself lets only one run of the id be open, and none begin after one that completed: two restarts at
 * the same moment give one run.
 * @throws InvalidInputError; NotAllowedError where the last run is open, or completed; SaleNotFoundError
 */
export async function restartWorkflow(
  client: Client,
  workflowId: string,
  request: RestartRequest & { by: string },
): Promise<RestartReply> {
  const { note, by } = parseInput(restartRequestSchema, request, "restart");
  const run = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      throw error instanceof WorkflowNotFoundError ? new SaleNotFoundError(workflowId) : error;
    });
  if (!RESTARTABLE.includes(run.type)) {
    throw new NotAllowedError(
      `The workflow ${workflowId} is a ${run.type}: only sales and credit notes are restarted.`,
    );
  }
  const closed = await closedRunOf(client, run);
  if (!closed) {
    const isRunning = run.status.name === "RUNNING";
    const is = isRunning
      ? "is running: what it waits for is answered by its updates (retry, cancel and so on)"
      : "is finished, so there is nothing to carry on";
    const ofSale = () => (isRunning ? { words: SEE_ITS_CREDIT_NOTE } : leftToDo(client, run));
    const { words = "", allowed }: Partial<LeftToDo> = run.type === WORKFLOW_TYPES.sale ? await ofSale() : {};
    throw new NotAllowedError(
      `The workflow ${workflowId} ${is}. Only one that was terminated, failed or timed out is restarted.${words}`,
      [],
      allowed,
    );
  }
  const input = await inputOfRun(client, run);
  const restarted: Restarted = { note, by, atMs: Date.now(), ...(await askedOf(client, run, input)) };
  const attributes = run.typedSearchAttributes.getAll().filter(({ key }) => KEPT_ATTRIBUTES.includes(key.name));
  const [staticSummary, staticDetails] = [await run.staticSummary(), await run.staticDetails()];
  try {
    const handle = await client.workflow.start(run.type, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: input,
      workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
      workflowIdConflictPolicy: "FAIL",
      memo: { ...run.memo, [RESTARTED_MEMO]: restarted },
      typedSearchAttributes: attributes,
      ...(staticSummary !== undefined && { staticSummary }),
      ...(staticDetails !== undefined && { staticDetails }),
    });
    return { workflowId, runId: handle.firstExecutionRunId, result: "restarted" };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    return { workflowId, runId, result: "running" };
  }
}

/**
 * What people had asked of the run, out of its own last state. A worker must be there, as for anything that follows. If
 * its history no longer replays, the ledger tells of the refund that it had accepted; if no worker had begun it, its
 * history tells what it was sent.
 */
async function askedOf(client: Client, run: WorkflowExecutionDescription, input: readonly unknown[]) {
  const handle = client.workflow.getHandle(run.workflowId, run.runId);
  try {
    const ask = (): Promise<WorkflowState> => handle.query<WorkflowState>(STATE_QUERY);
    const state = await answeredInTime(client, queryOf(run.workflowId), ask);
    const { cancelRequested, numberTaken, document, decisions } = state;
    const refund = state.refund ?? (await refundedMeanwhile(client, run, input, state));
    const word = decisions.find(({ update }) => update === "cancel");
    const sent = numberTaken || document !== null;
    return {
      sent,
      ...signedAs(document),
      ...(refund && { refund }),
      ...(cancelRequested !== undefined && { cancelRequested }),
      ...(word && { cancelWord: { atMs: word.atMs, ...(word.by !== undefined && { by: word.by }) } }),
    };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const kept = run.type === WORKFLOW_TYPES.sale ? await askedAsKept(client, input) : undefined;
    return { sent: true, ...kept, ...(isOfRunNeverBegun(error) && (await askedOfUnbegun(client, run, input, kept))) };
  }
}

/** No worker has seen what it was sent: neither its own restart, nor a refund or a cancellation since. */
async function askedOfUnbegun(
  client: Client,
  run: WorkflowExecutionDescription,
  [input]: readonly unknown[],
  kept: Pick<Restarted, "refund"> | undefined,
): Promise<Partial<Restarted>> {
  const { note: _note, by: _by, atMs: _atMs, ...before }: Partial<Restarted> = restartedOf(run.memo) ?? {};
  const { signals, isCancelRequested } = await unreadOfRun(client, run);
  const refund =
    kept?.refund ?? before.refund ?? firstRefund(signals, (input as Partial<SaleInput>).traderInvoiceNumber);
  return {
    ...before,
    ...(isCancelRequested && { cancelRequested: before.cancelRequested ?? CANCELLED_IN_TEMPORAL }),
    ...(run.type === WORKFLOW_TYPES.sale && refund && { refund }),
  };
}

/** As the sale takes them: the first that is valid counts, and a field too many is nothing. */
function firstRefund(signals: Unread["signals"], ownNumber: unknown): Refund | undefined {
  for (const { name, sent, atMs } of signals) {
    if (name !== SIGNALS.refundRequested) continue;
    const { success, data: refund } = z.object(refundSchema.shape).safeParse(sent);
    if (!success || !refundRequestSchema.safeParse(refund).success) continue;
    if (refund.traderInvoiceNumber !== ownNumber) return { returnDate: nairobiDate(atMs), ...refund };
  }
  return undefined;
}

/**
 * A sale that was refunded after its run had ended was credited by a workflow of its own, which this run finds. A refund
 * of the run's own that it has let go of is not asked for again.
 */
async function refundedMeanwhile(
  client: Client,
  { type }: WorkflowExecutionDescription,
  [input]: readonly unknown[],
  { document }: WorkflowState,
): Promise<Refund | undefined> {
  if (type !== WORKFLOW_TYPES.sale || document?.status !== "completed") return undefined;
  const later = await laterCreditNote(client, saleKeyOf(input as SaleInput), document.id);
  return later?.stage === "completed" ? undefined : later?.refund;
}

/** @throws NoAnswerError, LedgerAwayError: a refund that was accepted must not be forgotten */
async function askedAsKept(
  client: Client,
  [input]: readonly unknown[],
): Promise<Pick<Restarted, "refund" | "signed"> | undefined> {
  try {
    const { refund, document } = await findClosedSale(client, saleKeyOf(input as SaleInput));
    return { ...signedAs(document), ...(refund && { refund }) };
  } catch (error) {
    if (error instanceof SaleNotFoundError || error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

/** What is signed stays so. */
function signedAs(document: SaleDocument | null): Pick<Restarted, "signed"> {
  return document?.status === "completed" ? { signed: true } : {};
}
