import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";

import {
  ATTENTION_CODES,
  BRANCH_IS_KNOWN,
  type CallbackReceived,
  type CancelRequest,
  type CreditNoteChanged,
  FAILURES,
  type MessageReply,
  nairobiDate,
  NOTHING_TO_RESTOCK,
  type OutcomeRequest,
  refundConflict,
  type RefundRequest,
  type ResolveDocumentRequest,
  type ResolveStockRequest,
  restartedOf,
  type SaleOutcome,
  SIGNALS,
  STATE_QUERY,
  UPDATES,
  type WorkflowState,
} from "../../src/contract/index.ts";
import {
  checkedObject,
  notAllowed,
  registerOperatorUpdates,
  REPLY_SUMMARY,
  REPLY_WITHIN,
  requireText,
  visibleState,
} from "../operator/updates.ts";
import type { SaleState } from "./state.ts";
import { refundComplaint } from "./steps/refund.ts";
import { checkOutcomeRequest, outcomeOf, publishRun, stateOf, waitForOutcome } from "./view.ts";

/** Each takes at most one JSON object: Temporal's UI sends exactly one payload, which may be empty. */
const stateQuery = defineQuery<WorkflowState>(STATE_QUERY);
const callbackReceived = defineSignal<[CallbackReceived?]>(SIGNALS.callbackReceived);
const outcomeUpdate = defineUpdate<SaleOutcome, [OutcomeRequest?]>(UPDATES.outcome);
const cancelUpdate = defineUpdate<MessageReply, [CancelRequest]>(UPDATES.cancel);
const resolveStockUpdate = defineUpdate<MessageReply, [ResolveStockRequest]>(UPDATES.resolveStock);
const resolveDocumentUpdate = defineUpdate<MessageReply, [ResolveDocumentRequest]>(UPDATES.resolveDocument);

/**
 * Registers the query, the signal and the updates that a sale and a credit note share, and publishes each change. To be
 * called before the first await, so that an early message finds its handler.
 */
export function registerMessages(run: SaleState): void {
  run.onPublish.push(() => publishRun(run));
  takeOverRestart(run);
  setHandler(stateQuery, () => stateOf(run), { description: "Everything that is known of this document." });
  setHandler(callbackReceived, () => {
    run.callbacksReceived++;
  });
  setHandler(outcomeUpdate, (request) => waitForOutcome(run, request ?? {}), {
    description: 'The outcome, waited for a while. Takes {} or {"waitSeconds": 20}.',
    validator: (message?) => checkOutcomeRequest(run, message),
  });
  registerUpdates(run);
}

/** Whoever restarted the sale answers for it, as for any decision; what was asked of the run before still stands. */
function takeOverRestart(run: SaleState): void {
  const restarted = restartedOf(workflowInfo().memo);
  if (!restarted) return;
  const { note, by, atMs, sent, refund, cancelRequested } = restarted;
  run.decide({ update: "restart", note, by }, atMs);
  run.earlierRunSent = sent;
  run.cancelRequested = cancelRequested;
  if (run.workflow === "sale" && refundComplaint(refund) === undefined) run.refund = refund;
}

/** An answer that comes sooner after its question than a person can look into the books is for an earlier question. */
const FASTEST_ANSWER_MS = 5_000;

/**
 * The updates by which an operator resolves attentions. Validators are synchronous: Temporal silently ignores
 * asynchronous ones.
 */
function registerUpdates(run: SaleState): void {
  registerOperatorUpdates(run, (act, done) => actAndReply(run, act, done));

  setHandler(
    cancelUpdate,
    ({ reason }) => actAndReply(run, () => run.requestCancel(reason), "Cancellation asked for."),
    {
      description: 'Give the document up. Takes {"reason": "…"}.',
      validator: (message) => checkCancel(run, message),
    },
  );

  setHandler(resolveStockUpdate, (request) => actAndReply(run, () => resolveStock(run, request), "Kept."), {
    description: 'Say whether a stock movement was applied. Takes {"referenceId", "applied", "note", "by"?}.',
    validator: (message) => checkResolveStock(run, message),
  });

  setHandler(resolveDocumentUpdate, (request) => actAndReply(run, () => resolveDocument(run, request), "Kept."), {
    description: 'Say what became of the document. Takes {"saleId"} or {"notCreated": true}, with "note" and "by"?.',
    validator: (message) => checkResolveDocument(run, message),
  });
}

/** Validates the update `cancel`. */
export function checkCancel(run: SaleState, message: unknown): void {
  requireText(run, checkedObject(run, message, ["reason"]), "reason");
  if (run.stage === "cancelled") notAllowed(run, "It is cancelled already.");
  if (run.settled || run.stage === "crediting") {
    notAllowed(run, "A completed document cannot be cancelled; a sale is reversed by a refund.");
  }
}

/** Validates the update `resolveStock`. */
export function checkResolveStock(run: SaleState, message: unknown): void {
  const request = checkedObject(run, message, ["referenceId", "applied", "note", "by"]);
  requireText(run, request, "note");
  if (typeof request["applied"] !== "boolean") notAllowed(run, "Expected the field applied with true or false in it.");
  const open = run.movements.filter((movement) => movement.state === "unknown" && !movement.decision);
  const unknown = open.map((one) => one.referenceId);
  if (!unknown.some((reference) => reference === request["referenceId"])) {
    notAllowed(run, `No movement with that referenceId is unknown; unknown are: ${unknown.join(", ") || "none"}.`);
  }
  const anew = answeredTooSoon(run, String(request["referenceId"]));
  if (anew !== undefined) notAllowed(run, anew);
}

/** Validates the update `resolveDocument`. */
export function checkResolveDocument(run: SaleState, message: unknown): void {
  const request = checkedObject(run, message, ["saleId", "notCreated", "note", "by"]);
  requireText(run, request, "note");
  if ((request["saleId"] === undefined) === (request["notCreated"] !== true)) {
    notAllowed(run, 'Expected either {"saleId": "…"} or {"notCreated": true}.');
  }
  if (request["saleId"] !== undefined) requireText(run, request, "saleId");
  if (!run.needs("document-unknown")) notAllowed(run, "The document is not unknown.");
}

/**
 * Refuses a `resolveStock` that was sent twice. After the first one the movement may have been sent again, and have
 * become unknown again: the second is no answer to that.
 */
function answeredTooSoon(run: SaleState, referenceId: string): string | undefined {
  const ofMovement = ({ code, subject }: { code?: string; subject?: string }): boolean =>
    code === "stock-unknown" && subject === referenceId;
  const question = run.attentions.find(ofMovement);
  const answeredBefore = run.decisions.some(ofMovement);
  if (!question || !answeredBefore || Date.now() - question.sinceMs >= FASTEST_ANSWER_MS) return undefined;
  const since = new Date(question.sinceMs).toISOString();
  return `After your last answer it was sent again, and is unknown again since ${since}: look again, then answer.`;
}

/**
 * The end of "its answer is lost" (`issueAndAwait` in `workflow.ts`): takes an operator's decision on an unknown
 * movement. `workflows/stock/unknown-movement.ts` writes it into the claim before anything follows from it. Applied:
 * the movement counts as made. Not applied: it is sent again under the same reference. It is dropped if the sale was
 * given up, or if another run sent it and a refund only asks whether there is something to return. An outcome that the
 * claim has already counts before the decision.
 */
function resolveStock(run: SaleState, { referenceId, applied, note, by }: ResolveStockRequest): void {
  const movement = run.movements.find((one) => one.referenceId === referenceId && one.state === "unknown");
  if (!movement) return;
  const atMs = Date.now();
  movement.decision = { applied, note, ...(by !== undefined && { by }), atMs };
  const answer = applied ? "applied" : "not applied";
  run.decide({ update: "resolveStock", code: "stock-unknown", subject: referenceId, answer, note, by }, atMs);
}

function resolveDocument(run: SaleState, { saleId, note, by }: ResolveDocumentRequest): void {
  run.documentDecision = saleId === undefined ? "not-created" : { saleId };
  run.decide({ update: "resolveDocument", code: "document-unknown", answer: saleId ?? "not created", note, by });
  run.clear("document-unknown");
}

/**
 * Acts, waits a little for what comes of it, and says so in the reply. A cancellation that cannot be carried out yet is
 * not waited for. Not cancellable: update handlers run in the root scope, so cancelling the workflow would otherwise
 * fail the operator's update.
 */
function actAndReply(run: SaleState, act: () => unknown, done: string): Promise<MessageReply> {
  return CancellationScope.nonCancellable(async () => {
    const visible = (): string => `${run.stage} ${visibleState(run)}`;
    const before = visible();
    act();
    const cancelPending = run.cancelRequested !== undefined && !run.cancelDue;
    const answered = (): boolean => (run.cancelDue ? run.settled : visible() !== before);
    if (!cancelPending)
      await condition(() => run.failure !== undefined || answered(), REPLY_WITHIN, { summary: REPLY_SUMMARY });
    const [attention] = run.attentions;
    const kept = cancelPending ? " It is kept as a wish until the document's fate is known." : "";
    const message = `${done}${kept} Stage ${run.stage}; waits for ${run.waitingFor}.`;
    return { message, stage: run.stage, ...(attention && { attention: attention.code }) };
  });
}

export const refundRequested = defineSignal<[RefundRequest]>(SIGNALS.refundRequested);
const refundUpdate = defineUpdate<SaleOutcome, [RefundRequest]>(UPDATES.refund);
/** Sent by the credit note of a sale. */
export const creditNoteChanged = defineSignal<[CreditNoteChanged]>(SIGNALS.creditNoteChanged);

/** How long a refund's caller waits for the credit note before it gets the stage reached. */
const REFUND_REPLY_WITHIN = "20 seconds";

/** All messages of a sale. To be called before the first await. */
export function registerSaleMessages(run: SaleState): void {
  registerMessages(run);
  setHandler(creditNoteChanged, (change) => {
    // A signal can come late, from anywhere, with any content. It only changes what is shown: the credit note's own run
    // is what counts.
    if (run.stage !== "crediting" || typeof change !== "object" || change === null) return;
    run.creditNoteAttention = ATTENTION_CODES.find((code) => code === change.attention);
    run.publish();
  });
  setHandler(refundRequested, (request) => {
    // A signal cannot be refused: an invalid request, or a second one, changes nothing.
    if (refundComplaint(request) === undefined && run.stage !== "cancelled") run.refund ??= withReturnDate(request);
  });
  setHandler(refundUpdate, (request) => requestRefund(run, request), {
    description:
      'Reverse the sale in full. Takes {"reason": "06", "traderInvoiceNumber", "returnDate"?, "restock"?, "branch"?}.',
    validator: (message) => {
      const request = checkedObject(run, message, ["reason", "traderInvoiceNumber", "returnDate", "restock", "branch"]);
      requireText(run, request, "traderInvoiceNumber");
      const complaint = refundComplaint(request);
      if (complaint) notAllowed(run, complaint);
      const refund = request as unknown as RefundRequest;
      const conflict = run.refund && refundConflict(run.refund, refund);
      if (conflict !== undefined) throw ApplicationFailure.nonRetryable(conflict, FAILURES.conflict);
      const refundable = run.stage === "completed" || run.stage === "crediting" || run.stage === "credited";
      if (!refundable) notAllowed(run, "Only a completed sale can be refunded.");
      if (refund.restock && refund.branch === undefined && !run.tookStock) notAllowed(run, NOTHING_TO_RESTOCK);
      if (refund.branch !== undefined && run.tookStock) notAllowed(run, BRANCH_IS_KNOWN);
    },
  });
}

function requestRefund(run: SaleState, request: RefundRequest): Promise<SaleOutcome> {
  return CancellationScope.nonCancellable(async () => {
    const refund = (run.refund ??= withReturnDate(request));
    const isDecided = (): boolean =>
      run.stage === "credited" || run.creditNoteAttention !== undefined || run.refund === undefined;
    run.refundCallers++;
    await condition(isDecided, REFUND_REPLY_WITHIN, { summary: "The refund's caller waits for the credit note" });
    run.refundCallers--;
    if (run.refundRefused?.refund === refund) {
      throw ApplicationFailure.nonRetryable(run.refundRefused.message, FAILURES.conflict);
    }
    return outcomeOf(run);
  });
}

/**
 * Fills in the date on which the refund was asked for, which need not be the day on which its credit note is issued.
 */
function withReturnDate(request: RefundRequest): RefundRequest {
  return { ...request, returnDate: request.returnDate ?? nairobiDate(Date.now()) };
}
