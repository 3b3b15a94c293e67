import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from "@temporalio/workflow";

import {
  ATTENTION_CODES,
  BRANCH_IS_KNOWN,
  type CallbackReceived,
  type CancelRequest,
  type CreditNoteChanged,
  FAILURES,
  isCalendarDate,
  type MessageReply,
  nairobiDate,
  NOTHING_TO_RESTOCK,
  type OutcomeRequest,
  REFUND_REASONS,
  refundConflict,
  type RefundRequest,
  type ResolveDocumentRequest,
  type ResolveStockRequest,
  type SaleOutcome,
  SIGNALS,
  STATE_QUERY,
  UPDATES,
  type WorkflowState,
} from "../../src/contract/index.ts";
import { checkedObject, notAllowed, registerOperatorUpdates, REPLY_WITHIN, requireText } from "../operator/updates.ts";
import { checkOutcomeRequest, outcomeOf, publishRun, stateOf, waitForOutcome } from "./shown.ts";
import type { SaleState } from "./state.ts";

/** Each takes one JSON object or nothing: Temporal's UI sends exactly one payload, which may be left empty. */
const stateQuery = defineQuery<WorkflowState>(STATE_QUERY);
const callbackReceived = defineSignal<[CallbackReceived?]>(SIGNALS.callbackReceived);
const outcomeUpdate = defineUpdate<SaleOutcome, [OutcomeRequest?]>(UPDATES.outcome);
const cancelUpdate = defineUpdate<MessageReply, [CancelRequest]>(UPDATES.cancel);
const resolveStockUpdate = defineUpdate<MessageReply, [ResolveStockRequest]>(UPDATES.resolveStock);
const resolveDocumentUpdate = defineUpdate<MessageReply, [ResolveDocumentRequest]>(UPDATES.resolveDocument);

/**
 * The messages that a sale and a credit note share, and what it shows of itself. To be called before the first await:
 * an early message finds its handler.
 */
export function registerMessages(run: SaleState): void {
  run.onPublish.push(() => publishRun(run));
  setHandler(stateQuery, () => stateOf(run), { description: "Everything that is known of this document." });
  setHandler(callbackReceived, (message) => {
    run.callbacksReceived++;
    run.lastCallbackEvent = typeof message?.event === "string" ? message.event.slice(0, 64) : undefined;
  });
  setHandler(outcomeUpdate, (request) => waitForOutcome(run, request ?? {}), {
    description: 'The outcome, waited for a while. Takes {} or {"waitSeconds": 20}.',
    validator: (message?) => checkOutcomeRequest(run, message),
  });
  registerUpdates(run);
}

/** Nobody has looked into the books and answered so soon after a question was raised. */
const READ_WITHIN_MS = 5_000;

/**
 * The updates by which a person mends a run. Validators are synchronous: Temporal ignores asynchronous ones without a
 * word.
 */
function registerUpdates(run: SaleState): void {
  registerOperatorUpdates(run, (act, done) => replying(run, act, done));

  setHandler(cancelUpdate, ({ reason }) => replying(run, () => run.requestCancel(reason), "Cancellation asked for."), {
    description: 'Give the document up. Takes {"reason": "…"}.',
    validator: (message) => {
      requireText(run, checkedObject(run, message, ["reason"]), "reason");
      if (run.stage === "cancelled") notAllowed(run, "It is cancelled already.");
      if (run.settled || run.stage === "crediting") {
        notAllowed(run, "A completed document cannot be cancelled; a sale is reversed by a refund.");
      }
    },
  });

  setHandler(resolveStockUpdate, (request) => replying(run, () => resolveStock(run, request), "Kept."), {
    description: 'Say whether a stock movement was applied. Takes {"referenceId", "applied", "note", "by"?}.',
    validator: (message) => {
      const request = checkedObject(run, message, ["referenceId", "applied", "note", "by"]);
      requireText(run, request, "note");
      if (typeof request["applied"] !== "boolean")
        notAllowed(run, "Expected the field applied with true or false in it.");
      const open = run.movements.filter((movement) => movement.state === "unknown" && !movement.decision);
      const unknown = open.map((one) => one.referenceId);
      if (!unknown.some((reference) => reference === request["referenceId"])) {
        notAllowed(run, `No movement with that referenceId is unknown; unknown are: ${unknown.join(", ") || "none"}.`);
      }
      const anew = justUnknownAgain(run, String(request["referenceId"]));
      if (anew !== undefined) notAllowed(run, anew);
    },
  });

  setHandler(resolveDocumentUpdate, (request) => replying(run, () => resolveDocument(run, request), "Kept."), {
    description: 'Say what became of the document. Takes {"saleId"} or {"notCreated": true}, with "note" and "by"?.',
    validator: (message) => {
      const request = checkedObject(run, message, ["saleId", "notCreated", "note", "by"]);
      requireText(run, request, "note");
      if ((request["saleId"] === undefined) === (request["notCreated"] !== true)) {
        notAllowed(run, 'Expected either {"saleId": "…"} or {"notCreated": true}.');
      }
      if (request["saleId"] !== undefined) requireText(run, request, "saleId");
      if (!run.needs("document-unknown")) notAllowed(run, "The document is not unknown.");
    },
  });
}

/**
 * An answer that was sent twice must not be taken for one to a later question: after the first the movement may have
 * been sent again, and have become unknown again.
 */
function justUnknownAgain(run: SaleState, referenceId: string): string | undefined {
  const ofMovement = ({ code, subject }: { code?: string; subject?: string }): boolean =>
    code === "stock-unknown" && subject === referenceId;
  const question = run.attentions.find(ofMovement);
  const answeredBefore = run.decisions.some(ofMovement);
  if (!question || !answeredBefore || Date.now() - question.sinceMs >= READ_WITHIN_MS) return undefined;
  const since = new Date(question.sinceMs).toISOString();
  return `After your last answer it was sent again, and is unknown again since ${since}: look again, then answer.`;
}

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
 * Acts, and tells what came of it, where something can come of it soon. Handlers stand in the root scope, where a
 * cancellation from Temporal would fail the operator's update with it.
 */
function replying(run: SaleState, act: () => unknown, done: string): Promise<MessageReply> {
  return CancellationScope.nonCancellable(async () => {
    const before = visibleState(run);
    act();
    const wish = run.cancelRequested !== undefined && !run.cancelDue;
    const answered = (): boolean => (run.cancelDue ? run.settled : visibleState(run) !== before);
    if (!wish) await condition(() => run.failure !== undefined || answered(), REPLY_WITHIN);
    const [attention] = run.attentions;
    const kept = wish ? " It is kept as a wish until the document's fate is known." : "";
    const message = `${done}${kept} Stage ${run.stage}; waits for ${run.waitingFor}.`;
    return { message, stage: run.stage, ...(attention && { attention: attention.code }) };
  });
}

function visibleState(run: SaleState): string {
  const attentions = run.attentions.map(({ code, subject, sinceMs }) => [code, subject, sinceMs]);
  return JSON.stringify([run.stage, run.waitingFor, attentions]);
}

const refundRequested = defineSignal<[RefundRequest]>(SIGNALS.refundRequested);
const refundUpdate = defineUpdate<SaleOutcome, [RefundRequest]>(UPDATES.refund);
/** Sent by the credit note of a sale. */
export const creditNoteChanged = defineSignal<[CreditNoteChanged]>(SIGNALS.creditNoteChanged);

/** How long a refund's caller waits for the credit note before it is told the stage reached. */
const REFUND_REPLY_WITHIN = "20 seconds";

/** All messages of a sale. To be called before the first await. */
export function registerSaleMessages(run: SaleState): void {
  registerMessages(run);
  setHandler(creditNoteChanged, (change) => {
    // A signal can come from anywhere, late, and with anything in it: it only ever shows what the credit note's own run
    // knows better.
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

function refunded(run: SaleState, request: RefundRequest): Promise<SaleOutcome> {
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
