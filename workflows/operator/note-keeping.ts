import { CancellationScope } from "@temporalio/workflow";

import { bounded, jsonBytes, type KeptCorrection, keptRefund, type RunNote } from "../../src/contract/index.ts";
import { ledger } from "../proxies.ts";
import type { KeptNotes, SaleContext, SaleState } from "../sale/state.ts";
import { endOfTurn } from "../sdk/interceptors.ts";

/** Of the changes in one note, far below the 256 KB from where on Temporal warns. */
const MOST_BYTES = 64 * 1024;

/**
 * Keeps in the ledger what only the run knows of its document: what an operator is asked and has answered, a refund, how
 * the run ends. Answers of the service are written by the activities that have them, so that an ordinary sale has no
 * note. One note at a time; only the end of the run waits for them.
 */
export class NoteKeeping implements KeptNotes {
  readonly #context: SaleContext;
  #savedKey = NOTHING_TO_NOTE;
  #sequence = 0;
  #decisionsSaved = 0;
  #isSaving = false;
  /** While a note is on its way. */
  #isAskedAnew = false;

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
      const isWhole = run.attentionChanges.length === 0 && run.decisions.length === this.#decisionsSaved;
      if (isWhole && !this.#isAskedAnew) this.#savedKey = key;
      this.#isAskedAnew = false;
    }
    this.#isSaving = false;
  }

  /** Of many changes the first: the next note has the others. */
  #next(): RunNote {
    const { run } = this.#context;
    const { movementsPlanned: _planned, expectedTotal: _expected, ...row } = run.row;
    let bytes = 0;
    const fits = (one: unknown): boolean => (bytes += jsonBytes(one)) <= MOST_BYTES || bytes === jsonBytes(one);
    const decisions = firstOf(run.decisions.slice(this.#decisionsSaved), fits);
    const attentionChanges = firstOf(run.attentionChanges, fits);
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
      correction: correctionToNote(run),
      attentions,
      attentionChanges,
      decisions,
    };
  }
}

function firstOf<One>(all: readonly One[], fits: (one: One) => boolean): One[] {
  const end = all.findIndex((one) => !fits(one));
  return all.slice(0, end === -1 ? all.length : end);
}

/** A text that changes with whatever needs another note. Passing stages do not, nor do those that an answer tells. */
function noteKey(run: SaleState): string {
  // In the end everything is told, also that the authority was slow.
  const changes = run.settled ? run.attentionChangesEver : run.pressingChangesEver;
  const decisions = run.settled ? run.decisions.length : decisionsOnTheirOwn(run);
  const { correctedBy = "", stage: ofCorrection = "" } = correctionToNote(run) ?? {};
  const stage = [stageToNote(run), ofCorrection, correctedBy].join(" ").trim();
  return JSON.stringify([run.refused, stage, changes, decisions]);
}

const NOTHING_TO_NOTE = JSON.stringify([false, "", 0, 0]);

function stageToNote({ stage, document, documentType, invoice, refund, isRefundGivenUp }: SaleState): string {
  switch (stage) {
    case "rejected":
      return document?.status === "failed" ? "" : stage;
    case "credited":
      return documentType === "credit_note" && document?.traderInvoiceNumber === invoice ? "" : stage;
    case "completed":
      // The run before had not always noted that its refund was given up.
      return isRefundGivenUp && !refund ? stage : "";
    case "crediting":
      return `${stage} ${refund?.traderInvoiceNumber ?? ""}`;
    case "cancelled":
      return stage;
    default:
      return "";
  }
}

/** Nothing is to be kept of one that is looked at: what stands against it, it ends with. */
function correctionToNote({ correction }: SaleState): KeptCorrection | undefined {
  if (!correction || correction.stage === "preparing") return undefined;
  const { correctedBy, creditNote, stage } = correction;
  return { correctedBy, creditNote, stage };
}

/**
 * How many there are that need a note at once. A retry that says nothing beyond itself is kept with what comes of it. A
 * cancellation is kept at once: until it is carried out, a run that carries the sale on has to know of it.
 */
function decisionsOnTheirOwn({ decisions }: SaleState): number {
  return decisions.filter(({ update, note }) => update !== "retry" || note !== "").length;
}
