import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  setHandler,
} from "@temporalio/workflow";

import {
  ATTENTION_CODES,
  BRANCH_IS_KNOWN,
  type CreditNoteChanged,
  FAILURES,
  isCalendarDate,
  nairobiDate,
  NOTHING_TO_RESTOCK,
  REFUND_REASONS,
  refundConflict,
  type RefundRequest,
  type SaleOutcome,
  SIGNALS,
  UPDATES,
} from "../../src/contract/index.ts";
import { checkedObject, notAllowed, requireText } from "../operator/mending.ts";
import { wireMessages } from "./messages.ts";
import { outcomeOf } from "./outcome.ts";
import type { Run } from "./state.ts";

const refundRequested = defineSignal<[RefundRequest]>(SIGNALS.refundRequested);
const refundUpdate = defineUpdate<SaleOutcome, [RefundRequest]>(UPDATES.refund);
/** Sent by the credit note of a sale. */
export const creditNoteChanged = defineSignal<[CreditNoteChanged]>(SIGNALS.creditNoteChanged);

/** How long a refund's caller waits for the credit note before it is told the stage reached. */
const REFUND_REPLY_WITHIN = "20 seconds";

/** All messages of a sale. To be called before the first await. */
export function wireSaleMessages(run: Run): void {
  wireMessages(run);
  setHandler(creditNoteChanged, (change) => {
    // A signal can come from anywhere, late, and with anything in it: it only ever shows what the credit note's own run knows better.
    if (run.stage !== "crediting" || typeof change !== "object" || change === null) return;
    run.creditNoteAttention = ATTENTION_CODES.find((code) => code === change.attention);
    run.publish();
  });
  setHandler(refundRequested, (request) => {
    // A signal has no way to refuse: what is no refund request, or comes second, changes nothing.
    if (refundComplaint(request) === undefined && run.stage !== "cancelled") run.refund ??= dated(request);
  });
  setHandler(refundUpdate, (request) => refunded(run, request), {
    description:
      'Reverse the sale in full. Takes {"reason": "06", "traderInvoiceNumber", "returnDate"?, "restock"?, "branch"?}.',
    validator: (message) => {
      const request = checkedObject(run, message, ["reason", "traderInvoiceNumber", "returnDate", "restock", "branch"]);
      requireText(run, request, "traderInvoiceNumber");
      const complaint = refundComplaint(request);
      if (complaint) notAllowed(run, complaint);
      const asked = request as unknown as RefundRequest;
      const conflict = run.refund && refundConflict(run.refund, asked);
      if (conflict !== undefined) throw ApplicationFailure.nonRetryable(conflict, FAILURES.conflict);
      const refundable = run.stage === "completed" || run.stage === "crediting" || run.stage === "credited";
      if (!refundable) notAllowed(run, "Only a completed sale can be refunded.");
      if (asked.restock && asked.branch === undefined && !run.tookStock) notAllowed(run, NOTHING_TO_RESTOCK);
      if (asked.branch !== undefined && run.tookStock) notAllowed(run, BRANCH_IS_KNOWN);
    },
  });
}

function refunded(run: Run, request: RefundRequest): Promise<SaleOutcome> {
  return CancellationScope.nonCancellable(async () => {
    const refund = (run.refund ??= dated(request));
    const told = (): boolean =>
      run.stage === "credited" || run.creditNoteAttention !== undefined || run.refund === undefined;
    run.refundCallers++;
    await condition(told, REFUND_REPLY_WITHIN);
    run.refundCallers--;
    if (run.refundRefused?.refund === refund) {
      throw ApplicationFailure.nonRetryable(run.refundRefused.message, FAILURES.conflict);
    }
    return outcomeOf(run);
  });
}

/** The date is that of the request, whenever its credit note comes to be written. */
function dated(request: RefundRequest): RefundRequest {
  return { ...request, returnDate: request.returnDate ?? nairobiDate(Date.now()) };
}

/** What is wrong with a refund request, by the rules of its schema, which cannot be loaded here. */
function refundComplaint(request: unknown): string | undefined {
  if (typeof request !== "object" || request === null) return "Expected one JSON object.";
  const { reason, traderInvoiceNumber, returnDate, restock, branch } = request as Record<string, unknown>;
  const reasons = Object.keys(REFUND_REASONS);
  if (!reasons.some((code) => code === reason)) return `Expected reason to be one of ${reasons.join(", ")}.`;
  const number = typeof traderInvoiceNumber === "string" ? traderInvoiceNumber : "";
  if (/[\p{Cc}\p{Cs}]/u.test(number)) return "Expected traderInvoiceNumber without control characters.";
  const length = Array.from(number).length;
  if (length < 1 || length > 50) return "Expected traderInvoiceNumber with 1 to 50 characters.";
  if (returnDate !== undefined && !isDate(returnDate)) return "Expected returnDate as a date written YYYY-MM-DD.";
  if (restock !== undefined && typeof restock !== "boolean") return "Expected restock to be true or false.";
  if (branch === undefined) return undefined;
  if (typeof branch !== "string" || branch === "") return "Expected branch with the name of a branch.";
  if (restock !== true) return "Expected branch only together with restock.";
  return undefined;
}

function isDate(value: unknown): boolean {
  return typeof value === "string" && isCalendarDate(value);
}
