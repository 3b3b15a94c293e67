import {
  type AttentionCode,
  type CorrectionInput,
  type CorrectionProgress,
  type CorrectionStage,
  ENDED_CORRECTION,
  type HeldUp,
  keywordValue,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import type { Allowed } from "../operator/attention-list.ts";
import { Job } from "../job/job.ts";
import { quoted } from "../operator/details.ts";
import { COMMON_UPDATES, publishAttributes, type Update, type UpdateTable } from "../operator/updates.ts";

/** The state of one correction. */
export class CorrectionRun extends Job<CorrectionProgress> {
  /** The id of the document that is credited. */
  saleId: string | undefined;

  constructor(input: CorrectionInput) {
    const progress: CorrectionProgress = {
      stage: "preparing",
      invoice: String(input?.invoice),
      creditNote: String(input?.creditNote),
      correctedBy: String(input?.sale?.traderInvoiceNumber),
    };
    super({ workflow: WORKFLOW_TYPES.correctSale, noun: "The correction", progress, describe });
  }

  get stage(): CorrectionStage {
    return this.progress.stage;
  }

  override get cancelDue(): boolean {
    return this.cancelRequested !== undefined && this.stage === "preparing";
  }

  override get allowed(): Allowed {
    const { stands, updates } = super.allowed;
    return { stands, updates: this.stage === "preparing" ? [...updates, "cancel"] : updates };
  }

  requestCancel(reason: string, by?: string): void {
    if (this.stage === "preparing") this.takeCancellation(reason, by);
    this.publish();
  }

  moveTo(stage: CorrectionStage, waitingFor: string, change: Partial<CorrectionProgress> = {}): void {
    this.moveOn(waitingFor, { heldUp: undefined, ...change, stage });
  }

  /** The sale's credit note, or the corrected sale, needs an operator in that sale's workflow; or needs none any more. */
  holdUp(what: HeldUp["what"], code: AttentionCode | undefined): void {
    if (this.progress.heldUp?.code === code && (code === undefined || this.progress.heldUp?.what === what)) return;
    this.moveOn(this.waitingFor, { heldUp: code && { what, code } });
  }

  override publish(): void {
    super.publish();
    publishAttributes({
      invoice: keywordValue(this.progress.invoice),
      saleId: this.saleId === undefined ? null : keywordValue(this.saleId),
      stage: this.stage,
    });
  }
}

const cancel: Update<CorrectionRun, "cancel"> = {
  name: "cancel",
  refusedBecause({ stage, progress: { creditNote, invoice } }) {
    if (stage === "crediting")
      return `The credit note ${creditNote} is on its way: cancel the sale ${invoice}, which gives it up, and nothing is corrected.`;
    return stage === "preparing" ? undefined : "The sale is credited, or nothing is left to be cancelled.";
  },
  act: (run, { reason, by }) => run.requestCancel(reason, by),
  done: "Cancelled.",
};

export const CORRECTION_UPDATES: UpdateTable<CorrectionRun> = [...COMMON_UPDATES, cancel];

function describe({ stage, invoice, creditNote, correctedBy, heldUp, message }: CorrectionProgress): string[] {
  const what = heldUp?.what === "credit-note" ? "credit note" : "corrected sale";
  return [
    `Stage: ${stage}`,
    `The sale ${quoted(invoice)} is credited by ${quoted(creditNote)}, and corrected by ${quoted(correctedBy)}`,
    ...(heldUp && !ENDED_CORRECTION.includes(stage)
      ? [
          `The ${what} needs an operator (\`${heldUp.code}\`): resolve it in the workflow of the ${what === "credit note" ? "sale" : what}`,
        ]
      : []),
    ...(message === undefined ? [] : [quoted(message)]),
  ];
}
