import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";

import {
  balanceAgainst,
  balanceInWords,
  BRANCH_IS_KNOWN,
  type CallbackReceived,
  type ConflictDetails,
  type DatedRefund,
  FAILURES,
  isSuccessorAwaited,
  nairobiDate,
  NOTHING_TO_RESTOCK,
  OWN_NUMBER,
  refundConflict,
  refundConflictFields,
  refundDoubtsOf,
  type Refund,
  type RefundUpdate,
  replacementOf,
  replacementProblem,
  restartedOf,
  type SaleOutcome,
  SIGNALS,
  STATE_QUERY,
  type StockMovement,
  UPDATE_FORMS,
  type UpdateRequests,
  type WorkflowState,
} from "../../src/contract/index.ts";
import {
  acknowledge,
  checkUpdate,
  problemsOf,
  registerUpdates,
  retry,
  type Update,
  type UpdateTable,
} from "../operator/updates.ts";
import { invalidInput, onSignal, onUnreadSignals } from "../sdk/interceptors.ts";
import { isReset, type SaleState } from "./state.ts";
import { giveOutcome, publishRun, stateOf, whyNoOutcome, whyNoOutcomeOf, waitForOutcome } from "./view.ts";

const stateQuery = defineQuery<WorkflowState>(STATE_QUERY);
const callbackReceived = defineSignal<[CallbackReceived?]>(SIGNALS.callbackReceived);

const outcome: Update<SaleState, "outcome"> = {
  name: "outcome",
  refusedBecause: whyNoOutcomeOf,
  act: waitForOutcome,
};

const cancel: Update<SaleState, "cancel"> = {
  name: "cancel",
  refusedBecause(run) {
    const { stage, settled, earlierRunSigned, lastCreditNote } = run;
    if (isForComingNote(run)) return undefined;
    if (stage === "cancelled") return "It is cancelled already.";
    if (stage === "crediting" && lastCreditNote?.settled)
      return lastCreditNote.stage === "cancelled"
        ? "The credit note is given up already."
        : "The credit note is signed.";
    if (stage === "crediting") return undefined;
    if (earlierRunSigned && !settled)
      return "Its document was signed before the restart or the reset, and this run is still to find it. A completed document cannot be cancelled; once the sale is completed again it is reversed by a refund.";
    if (!settled) return undefined;
    return "A completed document cannot be cancelled; a sale is reversed by a refund.";
  },
  about: (run) => run.toCancel,
  act(run, { reason, by }) {
    if (!isForComingNote(run)) return run.toCancel.requestCancel(reason, by);
    run.creditNoteCancelRequested ??= { reason, by };
    run.notes?.saveIfChanged();
  },
  done: "Cancellation asked for.",
  isNoted: true,
  kept(run) {
    const { documentType, earlierFateUnknown, signed } = run.toCancel;
    if (signed && documentType === "credit_note") return "Nothing is given up: the credit note is signed.";
    if (signed) return "Nothing is cancelled: the document is signed. A completed sale is reversed by a refund.";
    if (!earlierFateUnknown) return "It is kept as a wish until the document's fate is known.";
    return "It is kept as a wish: whether the run before issued the document is not known yet. If it did, and it is signed, nothing is cancelled, and the sale says so.";
  },
};

/** A refund is accepted, and its credit note has not begun: a reset gives a run the cancellation of it again. */
function isForComingNote({ stage, settled, refund, earlierRunSigned }: SaleState): boolean {
  const isToCome = stage === "completed" || (earlierRunSigned && !settled && stage !== "crediting");
  return refund !== undefined && isToCome;
}

/** `workflows/stock/apply-movement.ts` writes the decision into the claim before anything follows from it. */
const resolveStock: Update<SaleState, "resolveStock"> = {
  name: "resolveStock",
  refusedBecause(run, { referenceId }) {
    const unknown = run.movements.filter((movement) => movement.state === "unknown");
    const open = unknown.filter((movement) => !movement.decision);
    if (open.some((movement) => movement.referenceId === referenceId)) return answeredTooSoon(run, referenceId);
    if (unknown.some((movement) => movement.referenceId === referenceId))
      return "The decision on it is being written into the movement's claim. That waits while the ledger is away.";
    const known = run.movements.find((movement) => movement.referenceId === referenceId);
    if (known) return notUnknown(run, known);
    const references = open.map((movement) => movement.referenceId).join(", ");
    return `There is no movement with that referenceId; unknown are: ${references || "none"}.`;
  },
  act(run, { referenceId, applied, note, by }) {
    const movement = run.movements.find((one) => one.referenceId === referenceId && one.state === "unknown");
    if (!movement) return;
    const atMs = Date.now();
    const asked = run.attentions.find(isAbout(referenceId));
    const contradicts = balanceAgainst(asked?.evidence ?? {}, applied);
    movement.decision = { applied, note, by, atMs, contradicts };
    const answer = `${applied ? "applied" : "not applied"}${contradicts ? `, ${balanceInWords(contradicts)}` : ""}`;
    run.decide({ update: "resolveStock", code: "stock-unknown", subject: referenceId, answer, note, by }, atMs);
  },
  done: "Recorded. If the movement's outcome has become known in the meantime, that outcome counts instead.",
};

/** An answer within this time of a repeated question is for the earlier one: nobody looks into the books that fast. */
const FASTEST_ANSWER_MS = 5_000;

/**
 * After the first `resolveStock` the movement may have been sent again, and have become unknown again: the repeat is no
 * answer to that.
 */
function answeredTooSoon(run: SaleState, referenceId: string): string | undefined {
  const question = run.attentions.find(isAbout(referenceId));
  if (!question || !wasAnswered(run, referenceId) || Date.now() - question.sinceMs >= FASTEST_ANSWER_MS)
    return undefined;
  const since = new Date(question.sinceMs).toISOString();
  return `It was answered before, and is asked again since ${since}: look again, then answer.`;
}

function isAbout(referenceId: string): (one: { code?: string; subject?: string }) => boolean {
  return ({ code, subject }) => code === "stock-unknown" && subject === referenceId;
}

function wasAnswered(run: SaleState, referenceId: string): boolean {
  return run.decisions.some(isAbout(referenceId));
}

/** Says to a caller who repeats a `resolveStock` that the first one was taken. */
function notUnknown(run: SaleState, { referenceId, state }: StockMovement): string {
  const why = wasAnswered(run, referenceId) ? "it was answered before" : "its outcome is not in question";
  return `The movement ${referenceId} is ${state === "dropped" ? "given up" : state}: ${why}.`;
}

const resolveDocument: Update<SaleState, "resolveDocument"> = {
  name: "resolveDocument",
  refusedBecause: (run) => (run.needs("document-unknown") ? undefined : "The document is not unknown."),
  act(run, { saleId, note, by }) {
    run.documentDecision = saleId === undefined ? "not-created" : { saleId };
    run.decide({ update: "resolveDocument", code: "document-unknown", answer: saleId ?? "not created", note, by });
    run.clear("document-unknown");
  },
  done: "Recorded.",
};

/**
 * For whichever document waits for it: what is about a credit note has its number as subject, if it has no other.
 * @param forSeveral it is for all that wait, if it names none
 */
function ofEither<Name extends "retry" | "acknowledge" | "resolveDocument">(
  update: Update<SaleState, Name>,
  { forSeveral }: { forSeveral: boolean },
): Update<SaleState, Name> {
  const meantFor = (one: SaleState, request: UpdateRequests[Name]): UpdateRequests[Name] =>
    "subject" in request && request.subject === one.invoice ? { ...request, subject: undefined } : request;
  const waiting = (run: SaleState, request: UpdateRequests[Name]): SaleState[] =>
    run.documents.filter((one) => update.refusedBecause(one, meantFor(one, request)) === undefined);
  return {
    ...update,
    refusedBecause(run, request) {
      const found = waiting(run, request);
      const isNamed = "subject" in request && request.subject !== undefined;
      if (found.length > 1 && !forSeveral && !isNamed)
        return `Several wait for it. Name one by its subject: ${found.map(({ invoice }) => invoice).join(" or ")}.`;
      const [first = run] = run.documents;
      return found.length > 0 ? undefined : update.refusedBecause(first, request);
    },
    act(run, request) {
      for (const one of waiting(run, request)) void update.act(one, meantFor(one, request));
    },
  };
}

/** A restart is an operator's decision, like any other. What the run before knew, its row knows. */
function takeOverRestart(run: SaleState): void {
  const restarted = restartedOf(workflowInfo().memo);
  if (!restarted) return;
  const { note, by, atMs, sent } = restarted;
  run.decide({ update: "restart", note, by }, atMs);
  run.earlierRunSent = sent;
}

function isRefund(run: SaleState, request: Refund): boolean {
  if (problemsOf(UPDATE_FORMS.refund, request).length > 0) return false;
  return request.traderInvoiceNumber !== run.invoice && replacementProblem(request, run.invoice) === undefined;
}

const refundRequested = defineSignal<[Refund?]>(SIGNALS.refundRequested);

const refund: Update<SaleState, "refund"> = {
  name: "refund",
  refusedBecause: (run, request) => whyNoRefund(run, request, isReset()),
  async act(run, request) {
    if (!run.prepared) {
      run.refundAsked = request.traderInvoiceNumber;
      await condition(() => run.prepared || run.failure !== undefined);
      if (run.failure) throw run.failure;
      checkUpdate(run, earlyRefund, request);
    }
    return await requestRefund(run, request);
  },
};

/** Judged in the handler, which a replay repeats: so by what the history says of a reset. */
const earlyRefund: Update<SaleState, "refund"> = {
  ...refund,
  refusedBecause: (run, request) => whyNoRefund(run, request, run.wasReset),
};

function whyNoRefund(run: SaleState, request: RefundUpdate, reset: boolean): string | undefined {
  if (request.traderInvoiceNumber === run.invoice) throw invalidInput("refund request", [OWN_NUMBER]);
  const problem = replacementProblem(request, run.invoice);
  if (problem !== undefined) throw invalidInput("refund request", [problem]);
  // A run that is started with it knows nothing yet: it looks at it once it has asked the ledger.
  if (!run.prepared) return undefined;
  throwIfConflicting(run, request);
  // Whoever repeats it to see how it stands must leave updates to operators.
  const usedUp = run.refund && whyNoOutcome(run);
  if (usedUp) return usedUp;
  // One that was accepted before is not looked at again.
  const doubts =
    run.refundChecks && !run.refund && !reset
      ? refundDoubtsOf(request, run.refundChecks, Date.now(), run.document?.saleDate)
      : [];
  const isCompleted = run.stage === "completed" || run.stage === "crediting" || run.stage === "credited";
  // The run before may have taken it, and must not have done so in vain; or it had signed the sale, which this one has
  // still to find. It waits until the sale is completed.
  const isTakenAgain = !isCompleted && (reset || run.earlierRunSigned) && run.stage !== "cancelled";
  if (!isCompleted && !isTakenAgain) return "Only a completed sale can be refunded.";
  if (doubts.length > 0) throw invalidInput("refund request", doubts);
  if (isTakenAgain) return undefined;
  if (request.replaceWith && run.stage === "credited" && !run.refund)
    return "It is credited already, by a credit note that was not issued here. Start the corrected sale as a new sale.";
  if (request.restock && request.branch === undefined && !run.tookStock) return NOTHING_TO_RESTOCK;
  return request.branch !== undefined && run.tookStock ? BRANCH_IS_KNOWN : undefined;
}

export const SALE_UPDATES: UpdateTable<SaleState> = [
  ofEither(retry, { forSeveral: true }),
  ofEither(acknowledge, { forSeveral: false }),
  outcome,
  cancel,
  resolveStock,
  ofEither(resolveDocument, { forSeveral: false }),
  refund,
];

/** To be called before the first await: an early message finds its handler. */
export function registerMessages(run: SaleState): void {
  run.onPublish.push(() => publishRun(run));
  takeOverRestart(run);
  setHandler(stateQuery, () => stateOf(run), { description: "Everything that is known of this sale." });
  onSignal(callbackReceived, () => {
    for (const one of run.documents) one.callbacksReceived++;
  });
  onUnreadSignals(() => run.publish());
  registerUpdates(run, SALE_UPDATES);
  onSignal(refundRequested, (sent) => {
    if (typeof sent !== "object" || sent === null) return;
    // A signal cannot be refused: an invalid request, or a second one, changes nothing; a field too many is nothing.
    const isKnown = ([field]: [string, unknown]): boolean => Object.hasOwn(UPDATE_FORMS.refund.properties, field);
    const request = Object.fromEntries(Object.entries(sent).filter(isKnown)) as unknown as Refund;
    if (!isRefund(run, request)) return;
    run.refundAsked = request.traderInvoiceNumber;
    if (run.refund || run.stage === "cancelled") return;
    run.refund = withReturnDate(request);
    run.notes?.saveIfChanged();
  });
}

const REFUND_REPLY_WITHIN = "20 seconds";

async function requestRefund(run: SaleState, request: RefundUpdate): Promise<SaleOutcome> {
  const { waitSeconds } = request;
  if (run.refund && !run.correction) withReplacement(run.refund, request, run.businessId);
  const refund = (run.refund ??= withReturnDate(request));
  run.notes?.saveIfChanged();
  // A caller with an answer need not ask again: so the refund outlives the run by then, unless the ledger is away.
  const isKept = (): boolean => run.refund !== refund || run.notes?.keeps(refund) !== false;
  const isHeldUp = (): boolean =>
    run.creditNotes.findLast(({ invoice }) => invoice === refund.traderInvoiceNumber)?.parked === true;
  // Of a correction the caller waits for the corrected sale.
  const isCredited = (): boolean => run.stage === "credited" && (run.parked || !isSuccessorAwaited(run.correction));
  const isDecided = (): boolean => isCredited() || run.refund !== refund || isHeldUp() || run.failure !== undefined;
  // What stands against a corrected sale is told in any case.
  const isLookedAt = (): boolean =>
    !request.replaceWith || (run.correction !== undefined && run.correction.stage !== "preparing");
  const isBegun = (): boolean => waitSeconds === 0 && run.stage !== "completed" && isLookedAt();
  const within = waitSeconds ? waitSeconds * 1000 : REFUND_REPLY_WITHIN;
  run.refundCallers++;
  await condition(() => (isDecided() || isBegun()) && isKept(), within, {
    summary: "The refund's caller waits for the credit note",
  });
  run.refundCallers--;
  if (run.failure) throw run.failure;
  if (run.refundRefused?.refund === refund) {
    const { message, fields } = run.refundRefused;
    throw ApplicationFailure.nonRetryable(message, FAILURES.conflict, { fields } satisfies ConflictDetails);
  }
  throwIfConflicting(run, request);
  return giveOutcome(run);
}

/** @throws ApplicationFailure Conflict, if the sale is refunded otherwise */
function throwIfConflicting({ refund, businessId }: SaleState, request: Refund): void {
  const conflict = refund && refundConflict(refund, request, businessId);
  if (!refund || conflict === undefined) return;
  const details: ConflictDetails = { fields: refundConflictFields(refund, request, businessId) };
  throw ApplicationFailure.nonRetryable(conflict, FAILURES.conflict, details);
}

/** What is kept of a refund lacks the corrected sale, which a repeated request for the same one brings along. */
export function withReplacement(known: Refund, asked: Refund | undefined, businessId: string | undefined): Refund {
  const isSame = asked?.replaceWith && replacementOf(asked, businessId)?.fingerprint === known.replacedBy?.fingerprint;
  if (isSame) known.replaceWith ??= asked.replaceWith;
  return known;
}

/** The date of the request, which need not be the day on which the credit note is issued. */
export function withReturnDate(request: Refund & Pick<RefundUpdate, "waitSeconds">): DatedRefund {
  const { waitSeconds: _, ...refund } = request;
  return { ...refund, returnDate: refund.returnDate ?? nairobiDate(Date.now()) };
}
