import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from "@temporalio/workflow";

import {
  type CallbackReceived,
  type CancelRequest,
  type MessageReply,
  type OutcomeRequest,
  type ResolveDocumentRequest,
  type ResolveStockRequest,
  type SaleOutcome,
  SIGNALS,
  STATE_QUERY,
  UPDATES,
  type WorkflowState,
} from "../../src/contract/index.ts";
import { checkedObject, notAllowed, REPLY_WITHIN, requireText, wireMending } from "../operator/mending.ts";
import { checkOutcomeRequest, stateOf, waitForOutcome } from "./outcome.ts";
import type { Run } from "./state.ts";

/** Each takes one JSON object or nothing: Temporal's UI sends exactly one payload, which may be left empty. */
const stateQuery = defineQuery<WorkflowState>(STATE_QUERY);
const callbackReceived = defineSignal<[CallbackReceived?]>(SIGNALS.callbackReceived);
const outcomeUpdate = defineUpdate<SaleOutcome, [OutcomeRequest?]>(UPDATES.outcome);
const cancelUpdate = defineUpdate<MessageReply, [CancelRequest]>(UPDATES.cancel);
const resolveStockUpdate = defineUpdate<MessageReply, [ResolveStockRequest]>(UPDATES.resolveStock);
const resolveDocumentUpdate = defineUpdate<MessageReply, [ResolveDocumentRequest]>(UPDATES.resolveDocument);

/** The messages that a sale and a credit note share. To be called before the first await: an early message finds its handler. */
export function wireMessages(run: Run): void {
  setHandler(stateQuery, () => stateOf(run), { description: "Everything that is known of this document." });
  setHandler(callbackReceived, (message) => {
    run.callbacksReceived++;
    run.lastCallbackEvent = typeof message?.event === "string" ? message.event.slice(0, 64) : undefined;
  });
  setHandler(outcomeUpdate, (request) => waitForOutcome(run, request ?? {}), {
    description: 'The outcome, waited for a while. Takes {} or {"waitSeconds": 20}.',
    validator: (message?) => checkOutcomeRequest(run, message),
  });
  wireOperatorUpdates(run);
}

/** Nobody has looked into the books and answered so soon after a question was raised. */
const READ_WITHIN_MS = 5_000;

/** The updates by which a person mends a run. Validators are synchronous: Temporal ignores asynchronous ones without a word. */
function wireOperatorUpdates(run: Run): void {
  wireMending(run, (act, done) => replying(run, act, done));

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
 * An answer that was sent twice must not be taken for one to a later question: after the first the movement may have been sent again, and
 * have become unknown again.
 */
function justUnknownAgain(run: Run, referenceId: string): string | undefined {
  const ofMovement = ({ code, subject }: { code?: string; subject?: string }): boolean =>
    code === "stock-unknown" && subject === referenceId;
  const question = run.attentions.find(ofMovement);
  const answeredBefore = run.decisions.some(ofMovement);
  if (!question || !answeredBefore || Date.now() - question.sinceMs >= READ_WITHIN_MS) return undefined;
  const since = new Date(question.sinceMs).toISOString();
  return `After your last answer it was sent again, and is unknown again since ${since}: look again, then answer.`;
}

function resolveStock(run: Run, request: { referenceId: string; applied: boolean; note: string; by?: string }): void {
  const { referenceId, applied, note, by } = request;
  const movement = run.movements.find((one) => one.referenceId === referenceId && one.state === "unknown");
  if (!movement) return;
  const atMs = Date.now();
  movement.decision = { applied, note, ...(by !== undefined && { by }), atMs };
  const answer = applied ? "applied" : "not applied";
  run.decisions.push({
    update: "resolveStock",
    code: "stock-unknown",
    subject: referenceId,
    answer,
    note,
    ...(by && { by }),
    atMs,
  });
}

function resolveDocument(run: Run, request: ResolveDocumentRequest): void {
  const { saleId, note, by } = request;
  run.documentDecision = saleId === undefined ? "not-created" : { saleId };
  const answer = saleId ?? "not created";
  run.decisions.push({
    update: "resolveDocument",
    code: "document-unknown",
    answer,
    note,
    ...(by && { by }),
    atMs: Date.now(),
  });
  run.clear("document-unknown");
}

/**
 * Acts, and tells what came of it, where something can come of it soon. Handlers stand in the root scope, where a cancellation from
 * Temporal would fail the operator's update with it.
 */
function replying(run: Run, act: () => unknown, done: string): Promise<MessageReply> {
  return CancellationScope.nonCancellable(async () => {
    const before = standing(run);
    act();
    const wish = run.cancelRequested !== undefined && !run.cancelDue;
    const answered = (): boolean => (run.cancelDue ? run.settled : standing(run) !== before);
    if (!wish) await condition(() => run.failure !== undefined || answered(), REPLY_WITHIN);
    const [attention] = run.attentions;
    const kept = wish ? " It is kept as a wish until the document's fate is known." : "";
    const message = `${done}${kept} Stage ${run.stage}; waits for ${run.waitingFor}.`;
    return { message, stage: run.stage, ...(attention && { attention: attention.code }) };
  });
}

function standing(run: Run): string {
  const attentions = run.attentions.map(({ code, subject, sinceMs }) => [code, subject, sinceMs]);
  return JSON.stringify([run.stage, run.waitingFor, attentions]);
}
