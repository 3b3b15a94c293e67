import { randomUUID } from "node:crypto";
import {
  type Client,
  WithStartWorkflowOperation,
  type Workflow,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from "@temporalio/client";
import {
  type Correction,
  isCorrectionLeft,
  OWN_NUMBER,
  refundConflict,
  refundConflictFields,
  replacementProblem,
} from "../contract/correction.ts";
import { doubtsOf, type InputChecks, refundDoubtsOf } from "../contract/input-checks.ts";
import type { RefundUpdate, SaleOutcome } from "../contract/messages.ts";
import { UPDATES } from "../contract/updates.ts";
import { WORKFLOW_TYPES } from "../contract/names.ts";
import { type Refund, type RefundRequest, refundRequestSchema } from "../contract/schema/sale.ts";
import { InvalidInputError, parseInput } from "../contract/schema/parse-input.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { saleIdOf, type SaleKey } from "./sale-key.ts";
import { endOf, lastRunOf } from "./runs.ts";
import { NotAllowedError, refundOf, SaleConflictError, workflowError } from "./errors.ts";
import { endsWait, waitForOutcome } from "./outcome.ts";
import { startByNumber } from "./start-sale.ts";
import { outcomeOfEnded, refusedByClosed, type SaleState } from "./state-of-sale.ts";
import type { Attention } from "../contract/attention.ts";

/** The sale itself waits no longer for its credit note; a caller who does waits for the outcome then. */
export const LONGEST_REPLY_SECONDS = 20;

export type CheckedRefund = SaleOutcome & {
  /** What looks wrong in the request, field by field; absent where nothing does. */
  warnings?: string[];
};

interface Asking {
  waitMs: number;
  checks: InputChecks | undefined;
}

/**
 * Asking twice for the same refund gives the same credit note.
 * @throws InvalidInputError; NotAllowedError; SaleConflictError where the sale is refunded otherwise, or the number is
 * that of another sale's credit note
 */
export async function refundSale(
  client: Client,
  key: SaleKey,
  request: RefundRequest,
  { waitMs, checks }: Asking,
): Promise<CheckedRefund> {
  const askedAtMs = Date.now();
  const waitSeconds = Math.min(waitMs / 1000, LONGEST_REPLY_SECONDS);
  let outcome = await beginRefund(client, key, request, { waitSeconds });
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
 * @param waitSeconds how long the sale may wait to say that the number is another sale's. A caller who does not wait is
 *   not told so: an operator is
 */
export async function beginRefund(
  client: Client,
  key: SaleKey,
  request: unknown,
  { waitSeconds }: { waitSeconds: number },
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
    const known = run && !(await endOf(client, run))?.refusal ? run : undefined;
    const closed = await closedOutcome(client, key, known);
    if (closed.stage === "credited") {
      throwIfOtherwise(closed, refund, key);
      const { correction } = closed;
      // The ledger may not have been told of it.
      const isUntold = refund.replaceWith !== undefined && (!correction || correction.stage === "cancelled");
      if (!isUntold && !isCorrectionLeft(correction)) return closed;
    }
    return await accepted(() =>
      client.workflow.executeUpdateWithStart<Workflow, SaleOutcome, [RefundUpdate]>(UPDATES.refund, {
        ...update,
        startWorkflowOperation: new WithStartWorkflowOperation(WORKFLOW_TYPES.sale, {
          ...startByNumber(key, known?.memo),
          workflowIdReusePolicy: "ALLOW_DUPLICATE",
          workflowIdConflictPolicy: "USE_EXISTING",
        }),
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
 * What is true of a sale of which no run is open.
 * @throws NotAllowedError where it cannot be refunded; SaleNotFoundError, NoAnswerError, LedgerAwayError
 */
async function closedOutcome(
  client: Client,
  key: SaleKey,
  run: WorkflowExecutionDescription | undefined,
): Promise<SaleOutcome> {
  const outcome = await outcomeOfEnded(client, run, key);
  const { stage, sale } = outcome;
  if (sale?.status === "completed" && stage !== "cancelled") return outcome;
  const isEnded = run && run.status.name !== "COMPLETED";
  const refused = isEnded && (await refusedByClosed(client, run.workflowId));
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

/** A refund that names the sale which replaces the credited one. The goods go back, as that sale takes its own. */
export type CorrectionRequest = Pick<RefundRequest, "reason" | "traderInvoiceNumber" | "returnDate"> &
  Required<Pick<RefundRequest, "replaceWith">>;

/** Where the correction of a sale stands. */
export interface KnownCorrection extends Correction {
  workflowId: string;
  invoice: string;
  /** In words: what happens next. */
  waitingFor: string;
  /** What the sale that is corrected needs an operator for; `heldUp` says it of the corrected one. */
  attentions: Attention[];
}

export type CheckedCorrection = KnownCorrection & Pick<CheckedRefund, "warnings">;

/** The rest is checked as a refund. @throws InvalidInputError */
export function requireReplacement(request: Partial<CorrectionRequest> | undefined): void {
  if (request?.replaceWith === undefined)
    throw new InvalidInputError("correction", ["replaceWith: expected the corrected sale, found none"]);
}

/** @returns undefined where the sale is not corrected */
export function correctionIn(
  { correction, refund, waitingFor, attentions }: SaleState,
  of: Pick<KnownCorrection, "workflowId" | "invoice">,
): KnownCorrection | undefined {
  const known = correction ?? (refund && toBegin(refund));
  // The sale itself may still wait for something else.
  return known && { ...of, ...known, waitingFor: isCorrectionLeft(known) ? waitingFor : "nothing", attentions };
}

/** A correction that is accepted, and that its sale has not begun yet. */
function toBegin({ replaceWith, traderInvoiceNumber: creditNote }: Refund): Correction | undefined {
  return replaceWith && { correctedBy: replaceWith.traderInvoiceNumber, creditNote, stage: "preparing" };
}
