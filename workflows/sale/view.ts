import { ApplicationFailure, CancellationScope, condition, setCurrentDetails } from "@temporalio/workflow";

import {
  asAnswered,
  bounded,
  CANCELLED_IN_TEMPORAL,
  type Correction,
  everythingWaitedFor,
  FAILURES,
  firstTrouble,
  isSuccessorAwaited,
  jsonBytes,
  type KeptCorrection,
  keptRefund,
  keywordValue,
  NO_BUSINESS,
  otherContent,
  outcomeOfState,
  type OutcomeRequest,
  type Refund,
  type RunNote,
  type SaleOutcome,
  type ServiceTrouble,
  type StockMovement,
  thatFit,
  type WorkflowState,
} from "../../src/contract/index.ts";
import { detailsPage, publishAttributes, quoted, troubleText, unreadText } from "../operator/updates.ts";
import { asFailure, isFinal, ledger } from "../proxies.ts";
import { endOfTurn, everyUpdateIsAnswered, unreadSignals } from "../sdk/interceptors.ts";
import type { KeptNotes, SaleContext, SaleState } from "./state.ts";

export function outcomeOf(run: SaleState): SaleOutcome {
  return outcomeOfState(stateOf(run));
}

/** A run that was restarted or reset takes a signed document over, whatever step it is at. */
function waitingForOf({ earlierRunSigned, document, waitingFor, stage, lastCreditNote: note }: SaleState): string {
  if (earlierRunSigned && !document) return "its document, which is signed already and which this run is still to find";
  return stage === "crediting" && note ? `${waitingFor}, which waits for ${note.waitingFor}` : waitingFor;
}

function serviceTroubleOf({ documents }: SaleState): ServiceTrouble | undefined {
  return firstTrouble(documents.map(({ serviceTrouble }) => serviceTrouble));
}

export function stateOf(run: SaleState): WorkflowState {
  const all = { movements: run.movements, attentions: run.allAttentions, decisions: run.allDecisions };
  const { movements, attentions, decisions, inAll } = bounded(all);
  const serviceTrouble = serviceTroubleOf(run);
  const { lastCreditNote: note } = run;
  // What was asked of a credit note that has ended is no wish any more.
  const creditNoteCancelRequested = note?.settled
    ? undefined
    : (note?.cancelRequested ?? run.creditNoteCancelRequested?.reason);
  return {
    stage: run.stage,
    waitingFor: waitingForOf(run),
    attentions,
    document: asAnswered(run.document ?? run.earlierDocument),
    ...(run.creditNote && { creditNote: asAnswered(run.creditNote) }),
    ...(run.refund && { refund: run.refund }),
    ...(run.correction && { correction: run.correction }),
    stockMovements: movements,
    decisions,
    ...(inAll && { inAll }),
    ...(serviceTrouble && { serviceTrouble }),
    ...(run.cancelRequested !== undefined && { cancelRequested: run.cancelRequested }),
    ...(creditNoteCancelRequested !== undefined && { creditNoteCancelRequested }),
    callbacksReceived: run.callbacksReceived,
    ...(unreadSignals() > 0 && { unreadMessages: unreadSignals() }),
    ...(run.fingerprint && { fingerprint: run.fingerprint }),
    numberTaken: run.numberTaken,
    nextWait: run.outcomesGiven,
  };
}

const MOST_MOVEMENTS = 20;

/** What Temporal's UI shows as Current Details. */
export function detailsOf(run: SaleState): string {
  const { document, creditNote } = run;
  const paragraphs = [
    `**Stage:** ${run.stage}${document ? ` · document ${quoted(document.id)} is ${quoted(document.status)}` : ""}`,
    `**Waits for:** ${quoted(everythingWaitedFor({ waitingFor: waitingForOf(run), attentions: run.allAttentions, stockMovements: run.movements }))}`,
    troubleText(serviceTroubleOf(run)),
  ];
  if (run.cancelRequested !== undefined && run.stage !== "cancelled") {
    const answer = run.signed
      ? "Nothing is cancelled: the document is signed. Reverse a completed sale with the update `refund`."
      : run.givenUp
        ? "It is carried out once its goods have gone back to stock."
        : "It is a wish until the document's fate is known.";
    paragraphs.push(`**Cancellation asked for:** ${quoted(run.cancelRequested)}. ${answer}`);
  }
  if (run.lastCreditNote ?? creditNote) paragraphs.push(`**Credit note:** ${creditNoteText(run)}`);
  if (run.correction) paragraphs.push(`**Correction:** ${correctionText(run.correction)}`);
  if (run.movements.length > 0) paragraphs.push(`**Stock movements**\n\n${stockLines(run).join("\n")}`);
  paragraphs.push(unreadText(unreadSignals()));
  return detailsPage(run.allAttentions, paragraphs);
}

function creditNoteText({ creditNote, lastCreditNote: note }: SaleState): string {
  const number = quoted(note?.invoice ?? creditNote?.traderInvoiceNumber ?? "");
  const stage = note ? `, ${note.stage}` : "";
  const document = creditNote ? ` · document ${quoted(creditNote.id)} is ${quoted(creditNote.status)}` : "";
  const wish =
    note?.cancelRequested !== undefined && !note.settled
      ? `. It is to be given up: ${quoted(note.cancelRequested)}; that is a wish until its fate is known`
      : "";
  return `${number}${stage}${document}${wish}`;
}

function correctionText({ correctedBy, stage, heldUp }: Correction): string {
  const help = heldUp ? `, which needs an operator (\`${heldUp}\`): resolve it in its own workflow` : "";
  return `by ${quoted(correctedBy)}, ${stage}${help}`;
}

/** Of many movements only those that are neither done nor still to come; the others are counted. */
function stockLines(run: SaleState): string[] {
  const { movements } = run;
  const isNotable = ({ state }: StockMovement): boolean => state !== "planned" && state !== "applied";
  const notable = movements.length > MOST_MOVEMENTS ? movements.filter(isNotable) : movements;
  const shown = notable.slice(0, MOST_MOVEMENTS);
  const lines = shown.map(
    (movement) => `- ${quoted(run.inWords(movement))}: ${movement.state} (${quoted(movement.referenceId)})`,
  );
  if (shown.length === movements.length) return lines;
  const others = new Map<string, number>();
  for (const { state } of movements) others.set(state, (others.get(state) ?? 0) + 1);
  for (const { state } of shown) others.set(state, (others.get(state) ?? 0) - 1);
  const counts = [...others].flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
  return [...lines, `- ${shown.length > 0 ? "others: " : ""}${counts.join(", ")}`];
}

export function publishRun(run: SaleState): void {
  setCurrentDetails(detailsOf(run));
  const { document, refund, creditNote } = run;
  // Somebody else's credit note may reverse it, but none that was given up.
  const signed = creditNote?.status === "completed" ? creditNote : undefined;
  const creditedBy = signed?.traderInvoiceNumber ?? refund?.traderInvoiceNumber;
  publishAttributes({
    business: run.businessId ?? NO_BUSINESS,
    invoice: keywordValue(run.invoice),
    saleId: document ? keywordValue(document.id) : null,
    creditNote: creditedBy === undefined || run.stage === "cancelled" ? null : keywordValue(creditedBy),
    stage: run.stage,
    attention: run.allAttentions[0]?.code ?? null,
  });
}

/**
 * A cancellation from Temporal becomes the run's own request to cancel. If the flow fails, everybody who waits for the
 * outcome gets the failure first, and then the workflow fails with it.
 */
export async function runToCompletion(run: SaleState, body: () => Promise<void>): Promise<SaleOutcome> {
  CancellationScope.current().cancelRequested.catch(() => run.requestCancel(CANCELLED_IN_TEMPORAL));
  return await CancellationScope.nonCancellable(async () => {
    try {
      await body();
    } catch (error) {
      if (!(error instanceof Error) || !isFinal(error)) throw error;
      run.failing = asFailure(error);
      // A caller that hears of the failure may start the number anew at once: so the run has nothing left to do then.
      await run.everythingFinished();
      run.failure = run.failing;
    }
    await run.everythingFinished();
    await condition(everyUpdateIsAnswered);
    if (run.failure) throw run.failure;
    return outcomeOf(run);
  });
}

const DEFAULT_WAIT_SECONDS = 20;
/**
 * Temporal takes 2,000 updates of a run, and ends a run whose history is above 50 MB: what is left is for the operator.
 */
const MOST_OUTCOMES = 1_800;
const MOST_OUTCOME_BYTES = 25_000_000;

/**
 * The outcome once the run is settled or held up, else the stage reached when the wait is over, which is short, since
 * Temporal admits ten updates at a time.
 */
export async function waitForOutcome(run: SaleState, request: OutcomeRequest): Promise<SaleOutcome> {
  await condition(() => run.prepared || run.failure !== undefined);
  if (run.failure) throw run.failure;
  if (isOfOtherContent(run, request)) {
    run.outcomesGiven++;
    throw conflictOfContent(run);
  }
  const waitMs = (request.waitSeconds ?? DEFAULT_WAIT_SECONDS) * 1000;
  const isOutcomeFinal = (): boolean => run.settled && !isSuccessorAwaited(run.correction);
  const outcomeKnown = (): boolean => isOutcomeFinal() || run.heldUp || run.failure !== undefined;
  if (!outcomeKnown() && waitMs > 0)
    await condition(outcomeKnown, waitMs, { summary: "A caller waits for the outcome" });
  return giveOutcome(run);
}

function isOfOtherContent(run: SaleState, { fingerprint }: OutcomeRequest): boolean {
  return fingerprint !== undefined && fingerprint !== run.fingerprint;
}

function conflictOfContent({ invoice }: SaleState): ApplicationFailure {
  return ApplicationFailure.nonRetryable(otherContent(invoice), FAILURES.conflict);
}

/**
 * Refused before Temporal counts it among the run's updates.
 * @throws ApplicationFailure Conflict, to a caller who has another sale in mind
 */
export function whyNoOutcomeOf(run: SaleState, request: OutcomeRequest): string | undefined {
  if (run.prepared && isOfOtherContent(run, request)) throw conflictOfContent(run);
  return whyNoOutcome(run);
}

/** As the answer of an update, of which a run gives only so many. */
export function giveOutcome(run: SaleState): SaleOutcome {
  run.outcomesGiven++;
  if (run.failure) throw run.failure;
  const answer = outcomeOf(run);
  run.outcomeBytes += jsonBytes(answer);
  run.outcomesUsedUp = run.outcomesGiven >= MOST_OUTCOMES || run.outcomeBytes >= MOST_OUTCOME_BYTES;
  return answer;
}

export function whyNoOutcome(run: SaleState): string | undefined {
  if (!run.outcomesUsedUp) return undefined;
  return `This run was asked for its outcome ${run.outcomesGiven} times, with ${Math.ceil(run.outcomeBytes / 1e6)} MB of answers. Temporal takes 2,000 updates of a run, and 50 MB of history: what is left is for operators. Ask the query state, which answers always, or wait for the workflow's result.`;
}

/** Of the decisions in one note, and of the changes, far below the 256 KB from where on Temporal warns. */
const MOST_BYTES = 32 * 1024;

/**
 * Keeps in the ledger what only the run knows of its document: what an operator is asked and has answered, a refund,
 * how the run ends. An ordinary sale has no note. One note at a time; only the end of the run waits for them.
 */
export class NoteKeeping implements KeptNotes {
  readonly #context: SaleContext;
  #savedKey = NOTHING_TO_NOTE;
  #sequence = 0;
  #decisionsSaved = 0;
  #isSaving = false;
  #isAskedAnew = false;
  #refundKept: string | undefined;

  constructor(context: SaleContext) {
    this.#context = context;
  }

  noteAnew(): void {
    this.#savedKey = "";
    this.#isAskedAnew = this.#isSaving;
    this.saveIfChanged();
  }

  get isSaved(): boolean {
    return !this.#isSaving;
  }

  keeps({ traderInvoiceNumber }: Refund): boolean {
    return this.#refundKept === traderInvoiceNumber;
  }

  saveIfChanged(): void {
    if (this.#isSaving || noteKey(this.#context.run) === this.#savedKey) return;
    this.#isSaving = true;
    // A cancelled run is noted too.
    void CancellationScope.nonCancellable(() => this.#save());
  }

  async #save(): Promise<void> {
    const { run, target } = this.#context;
    await endOfTurn();
    for (let key = noteKey(run); key !== this.#savedKey; key = noteKey(run)) {
      const note = this.#next();
      await ledger.noteRun("Keep in the ledger what the run knows", { ...target, note });
      run.attentionChanges.splice(0, note.attentionChanges.length);
      this.#decisionsSaved += note.decisions.length;
      this.#refundKept = note.refund?.traderInvoiceNumber;
      const isWhole = run.attentionChanges.length === 0 && run.decisions.length === this.#decisionsSaved;
      if (isWhole && !this.#isAskedAnew) this.#savedKey = key;
      this.#isAskedAnew = false;
    }
    this.#isSaving = false;
  }

  #next(): RunNote {
    const { run } = this.#context;
    const { movementsPlanned: _planned, expectedTotal: _expected, ...row } = run.row;
    const decisions = thatFit(run.decisions.slice(this.#decisionsSaved), MOST_BYTES);
    const attentionChanges = thatFit(run.attentionChanges, MOST_BYTES);
    const { attentions } = bounded({ attentions: run.attentions, movements: run.movements, decisions: [] });
    this.#sequence++;
    return {
      ...row,
      asOfMs: Date.now(),
      sequence: this.#sequence,
      stage: run.stage,
      ...(run.refused && { failed: true as const }),
      numberTaken: run.numberTaken,
      refund: run.refund ? keptRefund(run.refund, run.businessId) : run.isRefundGivenUp ? null : undefined,
      cancelRequested: run.cancelRequested,
      creditNoteCancelRequested: run.creditNoteCancelRequested?.reason,
      correction: correctionToNote(run),
      attentions,
      attentionChanges,
      decisions,
    };
  }
}

/** Changes with whatever needs another note. Passing stages do not, nor do those that an answer tells. */
function noteKey(run: SaleState): string {
  // In the end everything is told, also that the authority was slow.
  const changes = run.settled ? run.attentionChangesEver : run.pressingChangesEver;
  const decisions = run.settled ? run.decisions.length : decisionsOnTheirOwn(run);
  const { correctedBy = "", stage: ofCorrection = "" } = correctionToNote(run) ?? {};
  const stage = [stageToNote(run), ofCorrection, correctedBy].join(" ").trim();
  return JSON.stringify([run.refused, stage, changes, decisions, run.creditNoteCancelRequested !== undefined]);
}

const NOTHING_TO_NOTE = JSON.stringify([false, "", 0, 0, false]);

function stageToNote({ stage, document, documentType, invoice, refund, isRefundGivenUp }: SaleState): string {
  // The signal of a refund that comes before the sale is completed has no answer to wait for.
  const early = refund && documentType === "sale" ? `refund ${refund.traderInvoiceNumber}` : "";
  switch (stage) {
    case "rejected":
      return document?.status === "failed" ? early : `${stage} ${early}`;
    case "credited":
      return documentType === "credit_note" && document?.traderInvoiceNumber === invoice ? "" : stage;
    case "completed":
      // The run before had not always noted that its refund was given up.
      return isRefundGivenUp ? stage : "";
    case "crediting":
      return `${stage} ${refund?.traderInvoiceNumber ?? ""}`;
    case "cancelled":
      return stage;
    default:
      return early;
  }
}

/** Nothing is to be kept of one that is looked at: what stands against it, it ends with. */
function correctionToNote({ correction }: SaleState): KeptCorrection | undefined {
  if (!correction || correction.stage === "preparing") return undefined;
  const { correctedBy, creditNote, stage } = correction;
  return { correctedBy, creditNote, stage };
}

/** How many need a note at once: a retry that says nothing beyond itself is kept with what comes of it. */
function decisionsOnTheirOwn({ decisions }: SaleState): number {
  return decisions.filter(({ update, note }) => update !== "retry" || note !== "").length;
}
