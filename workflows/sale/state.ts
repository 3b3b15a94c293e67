import { type ApplicationFailure, condition, patched, workflowInfo } from "@temporalio/workflow";

import {
  type AnsweredRow,
  type Attention,
  attentionOfCreditNote,
  type AttentionChange,
  type Branch,
  type CallTarget,
  type ConnectionProfile,
  type Correction,
  type Decision,
  holdsUpDocument,
  type InAll,
  type InputChecks,
  type ResolvingUpdate,
  movementInWords,
  type MovementState,
  type Refund,
  REFUSALS,
  restartedOf,
  type SaleDocument,
  SETTLED_STAGES,
  type Stage,
  type StockMovement,
  type UnsentCreation,
  isRefusedStatus,
} from "../../src/contract/index.ts";
import { type Allowed, AttentionList, mostPressingFirst } from "../operator/attention-list.ts";
import { type Calls, callsOf } from "../proxies.ts";
import { countMovement } from "../sdk/interceptors.ts";

/** Where each stage may lead. A credit note begins at `submitting`, and has nothing to complete: it is credited. */
export const STAGE_TRANSITIONS: Readonly<Record<Stage, readonly Stage[]>> = {
  // Settled at once if the number was used long ago, for this very sale.
  "resolving-items": ["registering", "submitting", "completed", "credited", "cancelled"],
  registering: ["submitting", "awaiting-authority", "cancelled"],
  submitting: ["adjusting-stock", "awaiting-authority", "rejected", "completed", "credited", "cancelled"],
  "adjusting-stock": ["awaiting-authority", "rejected", "completed"],
  "awaiting-authority": ["adjusting-stock", "rejected", "completed", "credited", "cancelled"],
  // Credited: another credit note reverses the sale, or the resubmitted one is signed at once.
  rejected: ["registering", "submitting", "awaiting-authority", "credited", "cancelled"],
  completed: ["crediting"],
  crediting: ["completed", "credited"],
  credited: [],
  cancelled: [],
};

/**
 * A run that was reset gets the signals and updates of the run before it again. For checks of messages and for what an
 * activity is asked: the steps replay what that run did, and must not depend on it.
 */
export function isReset(): boolean {
  const { runId, firstExecutionRunId } = workflowInfo();
  return runId !== firstExecutionRunId;
}

/**
 * For a step: the run writes into its history that it is a reset one, since a replay outside the server does not know
 * its id. A run that is none writes nothing, and neither does one that was reset to a point after the step.
 */
export function isKnownToBeReset(before: "completed" | "its end"): boolean {
  return (
    (isReset() || workflowInfo().unsafe.isReplaying) &&
    patched(before === "completed" ? "reset before completed" : "reset")
  );
}

/** What a run knows of its sale, or of a credit note. Messages change it, and steps read it. */
export class SaleState extends AttentionList {
  readonly documentType: "sale" | "credit_note";
  readonly invoice: string;
  connection: string | undefined;
  businessId: string | undefined;
  fingerprint: string | undefined;

  stage: Stage;
  document: SaleDocument | null = null;
  /** As its row has it, if an earlier run issued it: this one has still to find it. */
  earlierDocument: SaleDocument | null = null;
  /** Of a sale that an earlier run has credited. */
  earlierCreditNote: SaleDocument | null = null;
  /** In their order: one that was given up may be followed by another. */
  readonly creditNotes: SaleState[] = [];
  /**
   * Only `workflows/stock/` changes a movement's state; an operator's decision is kept in `decision`, and taken up
   * there.
   */
  readonly movements: StockMovement[] = [];
  /** Of a sale that ended under an earlier workflow: how many movements it has, where not all of them are here. */
  inAll: InAll | undefined;

  readonly itemNames = new Map<string, string>();

  callbacksReceived = 0;
  documentDecision: { saleId: string } | "not-created" | undefined;
  refundWindowClosed = false;
  /** Whether a create request may have been sent. */
  numberTaken = false;
  /**
   * From when a request may have been sent until its outcome is known, and while the document is read before a
   * cancellation.
   */
  documentInDoubt = false;
  /** Creations that were put off while the ledger was away. */
  readonly unsentCreations: UnsentCreation[] = [];
  isCheckingCancel = false;
  /**
   * From a restart or a reset until it is known what became of the create request that the run before may have sent.
   */
  earlierRunSent = false;
  /** The run before knew of its signed document, which this one may still have to find. */
  earlierRunSigned = false;
  reversedSaleId: string | undefined;
  refund: Refund | undefined;
  refundChecks: InputChecks | undefined;
  /** Why the credit note is to be given up, if that was asked for before it began, and who asked, where that is known. */
  creditNoteCancelRequested: { reason: string; by?: string | undefined } | undefined;
  /** The number of the refund that messages asked for last; and that at the moment of the cancellation. */
  refundAsked: string | undefined;
  cancelledAfter: string | undefined;
  refundCallers = 0;
  refundRefused: { refund: Refund; message: string; fields: string[] } | undefined;
  correction: Correction | undefined;
  /** The sale is given up: movements of what it sold are not sent any more, those that give goods back are. */
  givenUp = false;
  outcomesGiven = 0;
  outcomeBytes = 0;
  outcomesUsedUp = false;
  prepared = false;
  /** As {@link isReset}, if the run was reset to before it was prepared: the same in every replay. */
  wasReset = false;
  /** Why the workflow will fail, which no caller is told before the ledger knows. */
  failing: ApplicationFailure | undefined;
  /** The same. Kept until every waiting caller has it: a failing workflow would hide it from them. */
  failure: ApplicationFailure | undefined;

  notes: KeptNotes | undefined;
  /** Attentions that were raised or cleared, and that the ledger does not have yet. */
  readonly attentionChanges: AttentionChange[] = [];
  /** How many there have been, saved or not; and of them those that need a note at once. */
  attentionChangesEver = 0;
  pressingChangesEver = 0;

  readonly onPublish: (() => void)[] = [];

  /** Another run had given the sale up, and given back what this one shows as sold. */
  isGivenBack = false;
  onGivenBack: (() => void) | undefined;
  /** Answers about documents that the ledger does not have: whether it was asked to read each since. */
  readonly answersToKeep = new Map<string, "new" | "asked">();
  isRefundGivenUp = false;
  /** How many movements the sale takes from stock, once that is known. */
  movementsPlanned: number | undefined;
  /** What the caller expects the signed total to be, and where the last answer about the document has another one. */
  expectedTotal: number | undefined;
  totalDiffers: string | undefined;

  readonly #unfinished = new Set<Promise<unknown>>();

  constructor(documentType: "sale" | "credit_note", invoice: string, stage: Stage) {
    super();
    this.documentType = documentType;
    this.invoice = invoice;
    this.stage = stage;
  }

  beginCreditNote(number: string): SaleState {
    const note = new SaleState("credit_note", number, "submitting");
    note.takes = this.takes;
    note.connection = this.connection;
    note.reversedSaleId = this.document?.id;
    note.callbacksReceived = this.callbacksReceived;
    note.prepared = true;
    note.onPublish.push(() => this.publish());
    this.creditNotes.push(note);
    return note;
  }

  get lastCreditNote(): SaleState | undefined {
    return this.creditNotes.at(-1);
  }

  /** The credit notes first. */
  get documents(): readonly SaleState[] {
    return [...this.creditNotes.toReversed(), this];
  }

  get creditNote(): SaleDocument | null {
    return this.lastCreditNote?.document ?? this.earlierCreditNote;
  }

  override get allAttentions(): Attention[] {
    const ofNotes = this.creditNotes.flatMap(({ invoice, attentions }) =>
      attentions.map((one) => attentionOfCreditNote(invoice, one)),
    );
    return mostPressingFirst([...this.attentions, ...ofNotes]);
  }

  get allDecisions(): Decision[] {
    const all = [...this.decisions, ...this.creditNotes.flatMap(({ decisions }) => decisions)];
    return this.creditNotes.length === 0 ? all : all.toSorted((one, other) => one.atMs - other.atMs);
  }

  get row(): AnsweredRow {
    const { documentType: type, invoice: number, reversedSaleId: originalSaleId } = this;
    return { type, number, originalSaleId, movementsPlanned: this.movementsPlanned, expectedTotal: this.expectedTotal };
  }

  /** How metrics name it. */
  get counted(): { connection: string | undefined; type: "sale" | "credit_note" } {
    return { connection: this.connection, type: this.documentType };
  }

  goodsGivenBack(): void {
    this.isGivenBack = true;
    this.onGivenBack?.();
  }

  get workflowId(): string {
    return workflowInfo().workflowId;
  }

  /** It carries on another run, after a reset or a restart. */
  get continuesEarlierRun(): boolean {
    return isReset() || restartedOf(workflowInfo().memo) !== undefined;
  }

  /** Whether the workflow will fail because what was asked of it was refused. After any other failure it is restarted. */
  get refused(): boolean {
    return REFUSALS.includes(this.failing?.type);
  }

  get settled(): boolean {
    return SETTLED_STAGES.includes(this.stage);
  }

  get parked(): boolean {
    return this.allAttentions.length > 0;
  }

  /** Stock never holds the document back, and a slow authority is still waited for. */
  get heldUp(): boolean {
    return this.allAttentions.some((attention) => holdsUpDocument(attention, this.movements));
  }

  /** The API has no cancellation: only what does not exist, or has failed, can be given up. */
  get cancellable(): boolean {
    if (this.documentInDoubt || this.earlierFateUnknown) return false;
    return !this.document || isRefusedStatus(this.document.status);
  }

  /** Whether a run before this one may have issued the document, which this one has not found out yet. */
  get earlierFateUnknown(): boolean {
    return this.earlierRunSent && !this.document;
  }

  get signed(): boolean {
    return this.earlierRunSigned || this.document?.status === "completed";
  }

  get tookStock(): boolean {
    return this.movements.some(({ purpose, state }) => purpose === "sold" && state !== "dropped");
  }

  get cancelDue(): boolean {
    return this.cancelRequested !== undefined && this.cancellable;
  }

  get allowed(): Allowed {
    const updates = new Set<ResolvingUpdate | "refund">(this.allAttentions.flatMap(({ resolvedBy }) => resolvedBy));
    if (this.stage === "completed" && !this.refund) updates.add("refund");
    if (this.documents.some(({ bringForward }) => bringForward)) updates.add("retry");
    const isOpen =
      this.stage === "crediting" ? this.lastCreditNote?.settled === false : !this.settled && !this.earlierRunSigned;
    if (isOpen && this.toCancel.cancelRequested === undefined) updates.add("cancel");
    const needs = this.allAttentions.map(({ code }) => code).join(", ");
    const stands = `The sale is at stage ${this.stage}${needs ? ` and needs an operator for ${needs}` : ""}`;
    return { stands, updates: [...updates, ...(this.outcomesUsedUp ? [] : ["outcome"])] };
  }

  /** While the sale is credited, its credit note. */
  get toCancel(): SaleState {
    return (this.stage === "crediting" && this.lastCreditNote) || this;
  }

  /** Any other step is a defect: the workflow task fails, and is repeated once the code is fixed. */
  moveTo(stage: Stage, waitingFor: string): void {
    if (stage !== this.stage && !STAGE_TRANSITIONS[this.stage].includes(stage))
      throw new Error(`stage ${this.stage} does not lead to ${stage}`);
    this.stage = stage;
    this.waitingFor = waitingFor;
    this.publish();
  }

  inWords(movement: StockMovement): string {
    return movementInWords(movement, this.itemNames.get(movement.itemId));
  }

  moved(movement: StockMovement, state: MovementState): void {
    movement.state = state;
    countMovement(this.counted, state);
    this.stockMoved();
  }

  stockMoved(): void {
    if (this.stage === "adjusting-stock") this.moveTo(this.inFlightStage, this.waitingFor);
    else this.publish();
  }

  /**
   * Until each movement has an answer, or is unknown, the stock is being adjusted; then only the authority is awaited.
   */
  get inFlightStage(): Stage {
    const moving = this.movements.some(({ state }) => state === "planned" || state === "sending");
    return moving ? "adjusting-stock" : "awaiting-authority";
  }

  corrects(change: Partial<Correction>): void {
    if (!this.correction) return;
    this.correction = { ...this.correction, ...change };
    this.publish();
  }

  /**
   * A task that runs on by itself, and must be done before the run ends, which throws the error of one that fails: what
   * the ledger is told of a document (`workflows/document/`) and of a movement (`workflows/stock/`).
   */
  beforeTheEnd(task: Promise<unknown>): void {
    this.#unfinished.add(task);
    task.then(
      () => this.#unfinished.delete(task),
      () => undefined,
    );
  }

  get finished(): boolean {
    const isFinished = this.#unfinished.size === 0 && this.notes?.isSaved !== false;
    return isFinished && this.creditNotes.every(({ finished }) => finished);
  }

  /** Whether the ledger has what only the run knows. */
  get isNoted(): boolean {
    return this.documents.every(({ notes, settled }) => notes?.isSaved ?? settled);
  }

  async everythingFinished(): Promise<void> {
    await Promise.all([...this.#unfinished, ...this.creditNotes.map((note) => note.everythingFinished())]);
    this.notes?.saveIfChanged();
    await condition(() => this.finished);
  }

  protected override attentionChanged(change: "raised" | "cleared", attention: Attention): void {
    const { resolvedBy: _resolvedBy, ...about } = attention;
    this.attentionChangesEver++;
    if (attention.code !== "authority-slow") this.pressingChangesEver++;
    this.attentionChanges.push({ change, ...about, atMs: Date.now() });
  }

  publish(): void {
    for (const tell of this.onPublish) tell();
    this.notes?.saveIfChanged();
  }

  /** Where Temporal's own cancellation and the `cancel` update end: a wish until a step can carry it out. */
  requestCancel(reason: string, by?: string): void {
    if (this.settled || this.stage === "crediting") this.refundWindowClosed = true;
    else {
      this.cancelledAfter = this.refundAsked;
      this.takeCancellation(reason, by);
    }
    this.publish();
  }
}

/** Keeps in the ledger what only the run knows of its document. */
export interface KeptNotes {
  readonly isSaved: boolean;
  saveIfChanged(): void;
  /** Whether the ledger has the refund. */
  keeps(refund: Refund): boolean;
  /** What the ledger has is another run's: it is told what this one knows. */
  noteAnew(): void;
}

export interface SaleContext {
  run: SaleState;
  profile: ConnectionProfile;
  target: CallTarget;
  calls: Calls;
  /** Whether its documents are sent with a callback URL. */
  callback: "auto" | "off";
  /** That of the sale, by both of its names; absent: the business's first branch. */
  branch?: Branch | undefined;
}

export function contextOf(
  run: SaleState,
  profile: ConnectionProfile,
  callback: SaleContext["callback"] = "auto",
): SaleContext {
  const { connection, businessId } = profile;
  return { run, profile, calls: callsOf(run, profile), target: { connection, businessId }, callback };
}
