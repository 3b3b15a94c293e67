import { defineSearchAttributeKey } from "@temporalio/common";
import { defineUpdate, setHandler } from "@temporalio/workflow";

import {
  type AttentionCode,
  type CancelRequest,
  type CorrectionInput,
  type CorrectionProgress,
  type CorrectionStage,
  ENDED_CORRECTION,
  type HeldUp,
  type JobReply,
  keywordValue,
  type Mend,
  RESOLVED_BY,
  SEARCH_ATTRIBUTES,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { Job } from "../job/job.ts";
import { actAndReply, registerJobMessages } from "../job/run-job.ts";
import { quoted } from "../operator/details.ts";
import { checkedObject, invoiceAttribute, notAllowed, publishAttributes, requireText } from "../operator/updates.ts";

const saleIdAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.saleId, "KEYWORD");
const stageAttribute = defineSearchAttributeKey(SEARCH_ATTRIBUTES.stage, "KEYWORD");
const cancelUpdate = defineUpdate<JobReply, [CancelRequest]>(UPDATES.cancel);

/** Where each stage may lead. What has ended stays; so does what is credited. */
const STAGE_TRANSITIONS: Readonly<Record<CorrectionStage, readonly CorrectionStage[]>> = {
  preparing: ["crediting", "cancelled"],
  crediting: ["issuing", "credited", "cancelled"],
  issuing: ["corrected", "credited"],
  corrected: [],
  credited: [],
  cancelled: [],
};

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

  override get allowedUpdates(): string {
    const also = this.stage === "preparing" ? " While it is at stage preparing, cancel too." : "";
    return `${super.allowedUpdates}${also}`;
  }

  protected override mendsOf(code: AttentionCode): readonly Mend[] {
    return RESOLVED_BY[code];
  }

  requestCancel(reason: string): void {
    this.cancelRequested ??= reason;
    this.publish();
  }

  /** Any other step is a defect: the workflow task fails, and is repeated once the code is corrected. */
  moveTo(stage: CorrectionStage, waitingFor: string, change: Partial<CorrectionProgress> = {}): void {
    if (!STAGE_TRANSITIONS[this.stage].includes(stage))
      throw new Error(`stage ${this.stage} does not lead to ${stage}`);
    this.moveOn(waitingFor, { heldUp: undefined, ...change, stage });
  }

  /** The credit note, or the corrected sale, needs an operator in its own workflow; or needs none any more. */
  holdUp(what: HeldUp["what"], code: AttentionCode | undefined): void {
    if (this.progress.heldUp?.code === code && (code === undefined || this.progress.heldUp?.what === what)) return;
    this.moveOn(this.waitingFor, { heldUp: code && { what, code } });
  }

  override publish(): void {
    super.publish();
    publishAttributes([
      { key: invoiceAttribute, value: keywordValue(this.progress.invoice) },
      { key: saleIdAttribute, value: this.saleId === undefined ? null : keywordValue(this.saleId) },
      { key: stageAttribute, value: this.stage },
    ]);
  }

  /** To be called before the first await: an early message finds its handler. */
  registerMessages(): void {
    registerJobMessages(this);
    setHandler(cancelUpdate, ({ reason }) => actAndReply(this, () => this.requestCancel(reason), "Cancelled."), {
      description: 'Give the correction up, while nothing is credited. Takes {"reason": "…"}.',
      validator: (message) => {
        requireText(this, checkedObject(this, message, ["reason"]), "reason");
        const { creditNote } = this.progress;
        if (this.stage === "crediting")
          notAllowed(this, `The credit note ${creditNote} is on its way: cancel that, and nothing is corrected.`);
        if (this.stage !== "preparing") notAllowed(this, `The sale is credited, or nothing is left to be cancelled.`);
      },
    });
  }
}

function describe({ stage, invoice, creditNote, correctedBy, heldUp, message }: CorrectionProgress): string[] {
  const what = heldUp?.what === "credit-note" ? "credit note" : "corrected sale";
  return [
    `Stage: ${stage}`,
    `The sale ${quoted(invoice)} is credited by ${quoted(creditNote)}, and corrected by ${quoted(correctedBy)}`,
    ...(heldUp && !ENDED_CORRECTION.includes(stage)
      ? [`The ${what} needs an operator (\`${heldUp.code}\`): resolve it in its own workflow`]
      : []),
    ...(message === undefined ? [] : [quoted(message)]),
  ];
}
