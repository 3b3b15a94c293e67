import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowIdReusePolicy,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";

import type { ClosedRun } from "../contract/closed-run.ts";
import { creditNoteWorkflowId } from "../contract/ids.ts";
import { type InputChecks, refundDoubtsOf } from "../contract/input-checks.ts";
import { nairobiDate } from "../contract/nairobi-date.ts";
import type { RefundUpdate } from "../contract/messages.ts";
import { DEFAULT_CONNECTION, MAIN_TASK_QUEUE, UPDATES, WORKFLOW_TYPES } from "../contract/names.ts";
import { someMovement } from "../contract/payload-bounds.ts";
import {
  BRANCH_IS_KNOWN,
  type CreditNoteInput,
  NOTHING_TO_RESTOCK,
  OWN_NUMBER,
  refundConflict,
  refundConflictFields,
  type RefundRequest,
  type SaleOutcome,
} from "../contract/sale.ts";
import { InvalidInputError, parseInput } from "../contract/schema/parse-input.ts";
import { refundRequestSchema } from "../contract/schema/refund-request.ts";
import { aboutWorkflow } from "../contract/summary.ts";
import { answeredInTime, isUnreadable } from "./answered-in-time.ts";
import { ledgerOutcome } from "./answer-from-ledger.ts";
import { LOOK_PAUSE_MS, REFUSED_WITHIN_MS } from "./bound.ts";
import { lastRunOf, refusedByClosed } from "./closed-run.ts";
import { NotAllowedError, SaleConflictError, SaleNotFoundError, workflowError } from "./errors.ts";
import { findClosedSale } from "./find-closed-sale.ts";
import { stageOfRefunded } from "./later-credit-note.ts";
import { refundOf, waitFor } from "./no-answer.ts";
import { type SaleKey, saleIdOf } from "./sale-key.ts";
import { endsWait, waitForOutcome } from "./outcome.ts";

/** The sale itself waits no longer for its credit note; whoever does, waits for the outcome then. */
export const LONGEST_REPLY_SECONDS = 20;

/**
 * Reverses a sale in full: through the sale itself while its refund window is open, else by a credit note of its own,
 * for as long as the ledger keeps the sale. Asking twice for the same refund gives the same credit note.
 * @throws InvalidInputError; NotAllowedError; SaleConflictError where the sale is refunded otherwise, or the number is
 * that of another sale's credit note
 */
export async function refundSale(
  client: Client,
  key: SaleKey,
  request: RefundRequest,
  asked: { waitMs: number; checks: InputChecks | undefined },
): Promise<CheckedRefund> {
  try {
    return await refundAndWait(client, key, request, asked);
  } catch (error) {
    // A workflow that finds the number taken names no field.
    if (!(error instanceof SaleConflictError) || error.fields.length > 0) throw error;
    throw new SaleConflictError(error.message, ["traderInvoiceNumber"]);
  }
}

async function refundAndWait(
  client: Client,
  key: SaleKey,
  request: RefundRequest,
  { waitMs, checks }: { waitMs: number; checks: InputChecks | undefined },
): Promise<CheckedRefund> {
  const askedAtMs = Date.now();
  const deadlineMs = askedAtMs + waitMs;
  const waitSeconds = Math.min(waitMs / 1000, LONGEST_REPLY_SECONDS);
  const { workflowId, outcome, closedSale } = await beginRefund(client, key, request, waitSeconds, checks);
  const { sale } = closedSale ?? outcome;
  const warnings = checks ? refundDoubtsOf(request, checks, askedAtMs, sale?.saleDate) : [];
  const last = await lastOutcome(client, { workflowId, outcome, isLate: closedSale !== undefined, waitMs, deadlineMs });
  return { ...(closedSale ? refundedLate(closedSale, last) : last), ...(warnings.length > 0 && { warnings }) };
}

async function lastOutcome(
  client: Client,
  wait: { workflowId: string; outcome: SaleOutcome; isLate: boolean; waitMs: number; deadlineMs: number },
): Promise<SaleOutcome> {
  const { workflowId, outcome, isLate, waitMs, deadlineMs } = wait;
  if (endsWait(outcome)) return outcome;
  if (waitMs > 0) return await waitForOutcome(client, { workflowId, waitMs: Math.max(deadlineMs - Date.now(), 0) });
  return isLate ? await pastRefusal(client, workflowId, outcome) : outcome;
}

/**
 * Of a credit note that has just begun: what is true once nothing stands against its number any more, or when the time
 * for that is up. Within its window the sale itself has an operator told of a refusal; afterwards nobody would be.
 * @throws SaleConflictError
 */
async function pastRefusal(client: Client, workflowId: string, begun: SaleOutcome): Promise<SaleOutcome> {
  const byMs = Date.now() + REFUSED_WITHIN_MS;
  let seen = begun;
  // Whose the number is shows before the credit note is sent.
  while (seen.stage === "submitting" && !seen.creditNote && !seen.attention && Date.now() < byMs) {
    await sleep(LOOK_PAUSE_MS);
    seen = await waitForOutcome(client, { workflowId, waitMs: 0 });
  }
  return seen;
}

/**
 * The sale's outcome, as within the refund window; its credit note has a workflow of its own, which tells the rest.
 * `closed` is the credit note's: the refund does not need the sale's workflow.
 */
function refundedLate(sale: SaleOutcome, note: SaleOutcome): SaleOutcome {
  const { creditNote, stage, refund, attention, closed } = note;
  if (stage === "cancelled") return sale;
  const { closed: _, ...known } = sale;
  return {
    ...known,
    ...(closed && { closed }),
    stage: stageOfRefunded(stage, closed !== undefined),
    ...(creditNote && { creditNote }),
    ...(refund && { refund }),
    ...(attention && !closed && { attention }),
  };
}

export type CheckedRefund = SaleOutcome & {
  /** What looks wrong in the request, field by field; absent where nothing does. */
  warnings?: string[];
};

/** A refund that has begun, or that there was. */
export interface BegunRefund {
  /** The workflow that carries it on, and whose outcome is the refund's: the sale, or the credit note. */
  workflowId: string;
  /** What is true now, as that workflow tells it. */
  outcome: SaleOutcome;
  /** The sale's own outcome, where the workflow is the credit note's. */
  closedSale?: SaleOutcome;
}

/**
 * As {@link refundSale}, once the refund is accepted.
 * @param waitSeconds how long the sale may wait to say that the number is another sale's. Whoever does not wait is not
 * told so: an operator is
 * @param checks of a refund whose sale is closed. An open sale checks it by itself
 */
export async function beginRefund(
  client: Client,
  key: SaleKey,
  request: unknown,
  waitSeconds: number,
  checks?: InputChecks,
): Promise<BegunRefund> {
  const refund: RefundRequest = parseInput(refundRequestSchema, request, "refund request");
  if (refund.traderInvoiceNumber === key.invoice) throw new InvalidInputError("refund request", [OWN_NUMBER]);
  const workflowId = saleIdOf(key);
  const handle = client.workflow.getHandle(workflowId);
  const updateId = randomUUID();
  try {
    const outcome = await answeredInTime(client, refundOf(workflowId), () =>
      handle.executeUpdate<SaleOutcome, [RefundUpdate]>(UPDATES.refund, {
        args: [{ ...refund, waitSeconds }],
        updateId,
      }),
    );
    return { workflowId, outcome };
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw workflowError(error.cause ?? error);
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  const closed = await closedOutcome(client, key);
  if (closed.stage === "credited" || closed.creditNote?.status === "completed")
    return { workflowId, outcome: sameOrConflict(closed, refund) };
  if (closed.stage !== "completed" || !closed.sale) {
    const refused = closed.closed && (await refusedByClosed(client, workflowId, UPDATES.refund));
    if (refused) throw refused;
    throw new NotAllowedError(`The sale ${key.invoice} is ${closed.stage}; only a completed sale can be refunded.`);
  }
  const tookStock = someMovement(closed, ({ purpose, state }) => purpose === "sold" && state !== "dropped");
  if (refund.restock && refund.branch === undefined && !tookStock) throw new NotAllowedError(NOTHING_TO_RESTOCK);
  if (refund.branch !== undefined && tookStock) throw new NotAllowedError(BRANCH_IS_KNOWN);
  const { connection, businessId } = key;
  const input: CreditNoteInput = {
    ...(connection !== undefined && { connection }),
    ...(businessId !== undefined && { businessId }),
    saleId: closed.sale.id,
    ...refund,
    returnDate: refund.returnDate ?? nairobiDate(Date.now()),
  };
  const { id: saleId, saleDate } = closed.sale;
  const noteId = creditNoteWorkflowId({ connection: connection ?? DEFAULT_CONNECTION, businessId, saleId });
  const doubts = checks?.mode === "refuse" ? refundDoubtsOf(refund, checks, Date.now(), saleDate) : [];
  // One that was accepted before is found again, whatever it looks like today.
  if (doubts.length > 0 && !(await lastRunOf(client, noteId))) throw new InvalidInputError("refund request", doubts);
  return { ...(await creditDirectly(client, input, refund)), closedSale: closed };
}

/**
 * Where Temporal no longer has the sale, or its workflow ended without an outcome, the ledger answers.
 * @throws SaleNotFoundError; NotAllowedError where the ledger does not know it yet; NoAnswerError, LedgerAwayError
 */
async function closedOutcome(client: Client, key: SaleKey): Promise<SaleOutcome> {
  const workflowId = saleIdOf(key);
  let isKnown = true;
  let ended: ClosedRun | undefined;
  try {
    const outcome = await waitForOutcome(client, { workflowId, waitMs: 0 });
    ended = outcome.closed;
    if (!ended) return outcome;
  } catch (error) {
    isKnown = !(error instanceof SaleNotFoundError);
    if (isKnown && !isUnreadable(error)) throw error;
  }
  try {
    // The ledger learns later how a run ended.
    return { ...ledgerOutcome(await findClosedSale(client, key)), ...(ended && { closed: ended }) };
  } catch (error) {
    // Its run ended before its row could be written: once it is restarted, it finds its document.
    const refused =
      isKnown && error instanceof SaleNotFoundError
        ? await refusedByClosed(client, workflowId, UPDATES.refund)
        : undefined;
    throw refused ?? error;
  }
}

/** @throws SaleConflictError where the sale is credited otherwise than asked for */
function sameOrConflict(outcome: SaleOutcome, asked: RefundRequest): SaleOutcome {
  const { creditNote } = outcome;
  // Of somebody else's credit note its number alone is known.
  const known = outcome.refund ?? (creditNote && { ...asked, traderInvoiceNumber: creditNote.traderInvoiceNumber });
  const conflict = known ? refundConflict(known, asked) : undefined;
  if (known && conflict !== undefined) throw new SaleConflictError(conflict, refundConflictFields(known, asked));
  return outcome;
}

/**
 * Starts the credit note of a sale whose own workflow is closed, or finds the one that there is. A note that was given
 * up is no hindrance.
 */
async function creditDirectly(client: Client, input: CreditNoteInput, asked: RefundRequest): Promise<BegunRefund> {
  const { connection = DEFAULT_CONNECTION, businessId, saleId, traderInvoiceNumber } = input;
  const workflowId = creditNoteWorkflowId({ connection, businessId, saleId });
  const start = (workflowIdReusePolicy: WorkflowIdReusePolicy) =>
    client.workflow.start(WORKFLOW_TYPES.creditNote, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy,
      workflowIdConflictPolicy: "FAIL",
      memo: { refund: { ...asked, ...(input.returnDate !== undefined && { returnDate: input.returnDate }) } },
      ...aboutWorkflow(WORKFLOW_TYPES.creditNote, input, `${traderInvoiceNumber} for the sale ${saleId}`),
    });
  try {
    await start("ALLOW_DUPLICATE_FAILED_ONLY");
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const known = await waitForOutcome(client, { workflowId, waitMs: 0 });
    if (known.stage === "cancelled") {
      // A note that was given up is kept in the ledger before its workflow closes.
      await answeredInTime(client, waitFor(workflowId), () => client.workflow.getHandle(workflowId).result());
      await start("ALLOW_DUPLICATE");
    } else {
      // One that has just begun does not tell what it was asked for yet.
      const { memo } = await client.workflow.getHandle(workflowId).describe();
      const begun = memo?.["refund"] as RefundRequest | undefined;
      sameOrConflict({ ...known, ...(begun && !known.refund && { refund: begun }) }, asked);
    }
  }
  return { workflowId, outcome: await waitForOutcome(client, { workflowId, waitMs: 0 }) };
}
