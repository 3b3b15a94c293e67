import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { z } from "zod";

import type { SaleDocument } from "../contract/documents.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { nairobiDate } from "../contract/nairobi-date.ts";
import { CANCELLED_IN_TEMPORAL, MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES, SIGNALS, STATE_QUERY } from "../contract/names.ts";
import { RESTARTED_MEMO, type Restarted, restartedOf } from "../contract/restarted.ts";
import type { Refund, SaleStart } from "../contract/sale.ts";
import { InvalidInputError } from "../contract/schema/parse-input.ts";
import { refundRequestSchema, refundSchema } from "../contract/schema/refund-request.ts";
import { answeredInTime, isOfRunNeverBegun, isUnreadable } from "./answered-in-time.ts";
import { SaleNotFoundError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { inputOfRun, type Unread, unreadOfRun } from "./input-of-run.ts";
import { queryOf } from "./no-answer.ts";
import { saleKeyOf } from "./sale-key.ts";

/** What lives of the attributes of the run before: the new one sets the others. */
const KEPT_ATTRIBUTES: readonly string[] = [SEARCH_ATTRIBUTES.business, SEARCH_ATTRIBUTES.invoice];

/**
 * How the run of a sale is started that follows this one, with the same input.
 * @param word of whoever has it carried on, with what was asked of it; absent where nothing was left to do
 * @throws NoAnswerError, LedgerAwayError
 */
export async function nextRun(
  client: Client,
  run: WorkflowExecutionDescription,
  word: Pick<Restarted, "note" | "by"> | undefined,
) {
  // Anybody may have started it, with anything.
  const input = { ...((await inputOfRun(client, run))[0] as SaleStart) };
  const restarted = word && { ...word, atMs: Date.now(), ...(await askedOf(client, run, input)) };
  const { [RESTARTED_MEMO]: _, ...memo } = run.memo ?? {};
  // What became of it, the run before knows.
  const { refund: _asked, ...sale } = input;
  const [staticSummary, staticDetails] = [await run.staticSummary(), await run.staticDetails()];
  return {
    workflowId: run.workflowId,
    taskQueue: MAIN_TASK_QUEUE,
    args: [sale],
    memo: { ...memo, ...(restarted && { [RESTARTED_MEMO]: restarted satisfies Restarted }) },
    typedSearchAttributes: run.typedSearchAttributes.getAll().filter(({ key }) => KEPT_ATTRIBUTES.includes(key.name)),
    ...(staticSummary !== undefined && { staticSummary }),
    ...(staticDetails !== undefined && { staticDetails }),
  };
}

/**
 * What people had asked of the run, out of its own last state. A worker must be there, as for anything that follows. If
 * its history no longer replays, the ledger tells of the refund that it had accepted; if no worker had begun it, its
 * history tells what it was sent.
 */
async function askedOf(client: Client, run: WorkflowExecutionDescription, input: SaleStart) {
  const handle = client.workflow.getHandle(run.workflowId, run.runId);
  try {
    const ask = (): Promise<WorkflowState> => handle.query<WorkflowState>(STATE_QUERY);
    const state = await answeredInTime(client, queryOf(run.workflowId), ask);
    const { cancelRequested, creditNoteCancelRequested, numberTaken, document, decisions, fingerprint } = state;
    // Before it had asked the ledger, it knew of what it was sent alone.
    const unread = fingerprint === undefined ? firstRefund([askedAtStart(run, input)], input) : undefined;
    const before = fingerprint === undefined ? restartedOf(run.memo)?.refund : undefined;
    const known = state.refund ?? unread ?? (state.isRefundGivenUp ? null : before);
    const word = decisions.find(({ update }) => update === "cancel");
    const sent = numberTaken || document !== null;
    return {
      sent,
      ...signedAs(document),
      ...(known !== undefined && { refund: known }),
      ...(cancelRequested !== undefined && { cancelRequested }),
      ...(creditNoteCancelRequested !== undefined && { creditNoteCancelRequested }),
      ...(word && { cancelWord: { atMs: word.atMs, ...(word.by !== undefined && { by: word.by }) } }),
    };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const kept = await askedAsKept(client, input);
    if (!isOfRunNeverBegun(error)) return { sent: true, ...kept };
    // No worker has begun it, so it has sent nothing.
    return { sent: false, ...kept, ...(await askedOfUnbegun(client, run, input, kept)) };
  }
}

/** No worker has seen what it was sent: neither its own start, nor a refund or a cancellation since. */
async function askedOfUnbegun(
  client: Client,
  run: WorkflowExecutionDescription,
  input: SaleStart,
  kept: Pick<Restarted, "refund"> | undefined,
): Promise<Partial<Restarted>> {
  const { note: _note, by: _by, atMs: _atMs, ...before }: Partial<Restarted> = restartedOf(run.memo) ?? {};
  const { signals, isCancelRequested } = await unreadOfRun(client, run);
  const asked = before.refund === undefined ? kept?.refund : before.refund;
  const refund = asked ?? firstRefund([askedAtStart(run, input), ...signals], input);
  return {
    ...before,
    ...(isCancelRequested && { cancelRequested: before.cancelRequested ?? CANCELLED_IN_TEMPORAL }),
    ...(refund && { refund }),
  };
}

function askedAtStart({ startTime }: WorkflowExecutionDescription, { refund }: SaleStart): Unread["signals"][number] {
  return { name: SIGNALS.refundRequested, sent: refund, atMs: startTime.getTime() };
}

/** As the sale takes them: the first that is valid counts, and a field too many is nothing. */
function firstRefund(signals: Unread["signals"], { traderInvoiceNumber: own }: SaleStart): Refund | undefined {
  for (const { name, sent, atMs } of signals) {
    if (name !== SIGNALS.refundRequested) continue;
    const { success, data: refund } = z.object(refundSchema.shape).safeParse(sent);
    if (!success || !refundRequestSchema.safeParse(refund).success) continue;
    if (refund.traderInvoiceNumber !== own) return { returnDate: nairobiDate(atMs), ...refund };
  }
  return undefined;
}

/** @throws NoAnswerError, LedgerAwayError: a refund that was accepted must not be forgotten */
async function askedAsKept(
  client: Client,
  input: SaleStart,
): Promise<Pick<Restarted, "refund" | "signed"> | undefined> {
  try {
    const { refund, document } = await findClosedSale(client, saleKeyOf(input));
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
