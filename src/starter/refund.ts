import { randomUUID } from "node:crypto";
import {
  type Client,
  WithStartWorkflowOperation,
  type Workflow,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";

import { isCorrectionLeft, replacementProblem } from "../contract/correction.ts";
import { doubtsOf, type InputChecks, refundDoubtsOf } from "../contract/input-checks.ts";
import type { RefundUpdate } from "../contract/messages.ts";
import { MAIN_TASK_QUEUE, UPDATES, WORKFLOW_TYPES } from "../contract/names.ts";
import {
  OWN_NUMBER,
  refundConflict,
  refundConflictFields,
  type RefundRequest,
  type SaleOutcome,
} from "../contract/sale.ts";
import { InvalidInputError, parseInput } from "../contract/schema/parse-input.ts";
import { refundRequestSchema } from "../contract/schema/refund-request.ts";
import { aboutWorkflow } from "../contract/summary.ts";
import { ledgerOutcome } from "./answer-from-ledger.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { attributesOfSale } from "./attributes.ts";
import { closedStatusOf, isSettled, lastRunOf, refusedByClosed, wasRefused } from "./closed-run.ts";
import { NotAllowedError, SaleConflictError, SaleNotFoundError, workflowError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { nextRun } from "./next-run.ts";
import { refundOf } from "./no-answer.ts";
import { endsWait, waitForOutcome } from "./outcome.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";

/** The sale itself waits no longer for its credit note; whoever does, waits for the outcome then. */
export const LONGEST_REPLY_SECONDS = 20;

export type CheckedRefund = SaleOutcome & {
  /** What looks wrong in the request, field by field; absent where nothing does. */
  warnings?: string[];
};

/** How a refund is asked for. */
interface Asking {
  /** How long to wait for the credit note. */
  waitMs: number;
  checks: InputChecks | undefined;
  /** Who asks, where a run that ended early has to be carried on for it. */
  by: string;
}

/**
 * Reverses a sale in full, for as long as the ledger keeps it. Asking twice for the same refund gives the same credit
 * note.
 * @throws InvalidInputError; NotAllowedError; SaleConflictError where the sale is refunded otherwise, or the number is
 * that of another sale's credit note
 */
export async function refundSale(
  client: Client,
  key: SaleKey,
  request: RefundRequest,
  { waitMs, checks, by }: Asking,
): Promise<CheckedRefund> {
  const askedAtMs = Date.now();
  const waitSeconds = Math.min(waitMs / 1000, LONGEST_REPLY_SECONDS);
  let outcome = await beginRefund(client, key, request, { waitSeconds, by });
  const warnings = checks ? doubtsOfRefund(request, checks, askedAtMs, outcome.sale?.saleDate) : [];
  const leftMs = Math.max(askedAtMs + waitMs - Date.now(), 0);
  if (waitMs > 0 && !endsWait(outcome))
    outcome = await waitForOutcome(client, { workflowId: saleIdOf(key), sale: key, waitMs: leftMs });
  return { ...outcome, ...(warnings.length > 0 && { warnings }) };
}

function doubtsOfRefund(
  request: RefundRequest,
  checks: InputChecks,
  askedAtMs: number,
  saleDate: string | null | undefined,
): string[] {
  const ofReplacement = request.replaceWith ? doubtsOf(request.replaceWith, checks, askedAtMs) : [];
  return [
    ...refundDoubtsOf(request, checks, askedAtMs, saleDate),
    ...ofReplacement.map((doubt) => `replaceWith.${doubt}`),
  ];
}

/**
 * As {@link refundSale}, once the refund is accepted.
 * @param waitSeconds how long the sale may wait to say that the number is another sale's. Whoever does not wait is not
 * told so: an operator is
 */
export async function beginRefund(
  client: Client,
  key: SaleKey,
  request: unknown,
  { waitSeconds, by }: { waitSeconds: number; by: string },
): Promise<SaleOutcome> {
  const refund: RefundRequest = parseInput(refundRequestSchema, request, "refund request");
  if (refund.traderInvoiceNumber === key.invoice) throw new InvalidInputError("refund request", [OWN_NUMBER]);
  const problem = replacementProblem(refund, key.invoice);
  if (problem !== undefined) throw new InvalidInputError("refund request", [problem]);
  const workflowId = saleIdOf(key);
  const handle = client.workflow.getHandle(workflowId);
  const update = { args: [{ ...refund, waitSeconds }] as [RefundUpdate], updateId: randomUUID() };
  const accepted = (ask: () => Promise<SaleOutcome>) => answeredInTime(client, refundOf(workflowId), ask);
  try {
    try {
      return await accepted(() => handle.executeUpdate<SaleOutcome, [RefundUpdate]>(UPDATES.refund, update));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    const run = await lastRunOf(client, workflowId);
    // What was refused is no sale: the ledger may have one of that number all the same.
    const known = run && !(await wasRefused(client, run)) ? run : undefined;
    const closed = await closedOutcome(client, key, known);
    if (closed.stage === "credited") {
      throwIfOtherwise(closed, refund, key);
      const { correction } = closed;
      // The ledger may not have been told of it.
      const isUntold = refund.replaceWith !== undefined && (!correction || correction.stage === "cancelled");
      if (!isUntold && !isCorrectionLeft(correction)) return closed;
    }
    const start = await startAgain(client, key, known, {
      note: `refund ${refund.traderInvoiceNumber} was asked for`,
      by,
    });
    return await accepted(() =>
      client.workflow.executeUpdateWithStart<Workflow, SaleOutcome, [RefundUpdate]>(UPDATES.refund, {
        ...update,
        startWorkflowOperation: new WithStartWorkflowOperation(WORKFLOW_TYPES.sale, start),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    const refused = workflowError(error.cause ?? error);
    // A sale that finds the number taken names no field.
    if (!(refused instanceof SaleConflictError) || refused.fields.length > 0) throw refused;
    throw new SaleConflictError(refused.message, ["traderInvoiceNumber"]);
  }
}

/**
 * What is true of a sale of which no run is open: its last run says so, or else the ledger.
 * @throws NotAllowedError where it cannot be refunded; SaleNotFoundError, NoAnswerError, LedgerAwayError
 */
async function closedOutcome(
  client: Client,
  key: SaleKey,
  run: WorkflowExecutionDescription | undefined,
): Promise<SaleOutcome> {
  let outcome: SaleOutcome;
  try {
    outcome =
      run?.status.name === "COMPLETED"
        ? ((await client.workflow.getHandle(run.workflowId, run.runId).result()) as SaleOutcome)
        : ledgerOutcome(await findClosedSale(client, key));
  } catch (error) {
    if (!run || !(error instanceof SaleNotFoundError)) throw error;
    // Its run ended before its row could be written: once it is restarted, it finds its document.
    throw (await refusedByClosed(client, run.workflowId, UPDATES.refund)) ?? error;
  }
  const { stage, sale } = outcome;
  if (sale?.status === "completed" && stage !== "cancelled") return outcome;
  const ended = run && closedStatusOf(run.status.name);
  const refused = ended && (await refusedByClosed(client, run.workflowId, UPDATES.refund));
  throw refused ?? new NotAllowedError(`The sale ${key.invoice} is ${stage}; only a completed sale can be refunded.`);
}

/** @throws SaleConflictError where the sale is credited otherwise than asked for */
function throwIfOtherwise({ refund, creditNote }: SaleOutcome, asked: RefundRequest, { businessId }: SaleKey): void {
  // Of somebody else's credit note its number alone is known.
  const { replaceWith: _, ...request } = asked;
  const known = refund ?? (creditNote && { ...request, traderInvoiceNumber: creditNote.traderInvoiceNumber });
  const conflict = known ? refundConflict(known, asked, businessId) : undefined;
  if (known && conflict !== undefined)
    throw new SaleConflictError(conflict, refundConflictFields(known, asked, businessId));
}

/** How the run is started that carries the refund out, unless another one has begun meanwhile. */
async function startAgain(
  client: Client,
  key: SaleKey,
  run: WorkflowExecutionDescription | undefined,
  word: { note: string; by: string },
) {
  const policies = { workflowIdReusePolicy: "ALLOW_DUPLICATE", workflowIdConflictPolicy: "USE_EXISTING" } as const;
  if (run) {
    const isLeft = closedStatusOf(run.status.name) !== undefined && !(await isSettled(client, run));
    return { ...(await nextRun(client, run, isLeft ? word : undefined)), ...policies };
  }
  const { invoice: traderInvoiceNumber, connection, businessId } = key;
  return {
    workflowId: saleIdOf(key),
    taskQueue: MAIN_TASK_QUEUE,
    args: [
      {
        ...(connection !== undefined && { connection }),
        ...(businessId !== undefined && { businessId }),
        traderInvoiceNumber,
      },
    ],
    typedSearchAttributes: attributesOfSale(key),
    ...aboutWorkflow(WORKFLOW_TYPES.sale, key, traderInvoiceNumber),
    ...policies,
  };
}
