import { condition, workflowInfo } from "@temporalio/workflow";

import {
  ATTENTION_CODES,
  type Attention,
  type AttentionCode,
  type Decision,
  MENDED_BY,
  type RefundRequest,
  type SaleDocument,
  SETTLED_STAGES,
  type Stage,
  type StockMovement,
} from "../../src/contract/index.ts";
import { publishRun } from "./publish.ts";

/**
 * All that a run of a sale or of a credit note knows. Messages change it, steps read it; whoever changes what a person can
 * see publishes it.
 */
export class Run {
  readonly workflow: "sale" | "creditNote";
  readonly invoice: string;
  businessId: string | undefined;
  fingerprint: string | undefined;

  stage: Stage;
  /** In words: what happens next, and when. */
  waitingFor = "the start";
  document: SaleDocument | null = null;
  creditNote: SaleDocument | null = null;
  creditNoteWorkflowId: string | undefined;
  /** What a credit note needs a person for; it is mended there. */
  creditNoteAttention: AttentionCode | undefined;
  readonly movements: StockMovement[] = [];
  readonly decisions: Decision[] = [];

  callbacksReceived = 0;
  lastCallbackEvent: string | undefined;
  retriesRequested = 0;
  cancelRequested: string | undefined;
  refundWindowClosed = false;
  /** Whether a create request may have left. */
  numberTaken = false;
  /** From the moment a create request may have left until its answer says what became of it. */
  documentInDoubt = false;
  /** On a credit note: the sale that it reverses. */
  reversedSaleId: string | undefined;
  refund: RefundRequest | undefined;
  /** Once a sale is given up, what was not sent to the stock is not sent any more. */
  stockHalted = false;
  outcomesGiven = 0;
  prepared = false;
  /** Kept until every waiting caller has been told, since a failing workflow would hide its reason from them. */
  failure: Error | undefined;

  /** Called after each change that a person can see. */
  onPublish: (() => void) | undefined;

  readonly #attentions = new Map<string, Attention>();

  constructor(workflow: "sale" | "creditNote", invoice: string, stage: Stage) {
    this.workflow = workflow;
    this.invoice = invoice;
    this.stage = stage;
  }

  get workflowId(): string {
    return workflowInfo().workflowId;
  }

  /** The most pressing first. */
  get attentions(): Attention[] {
    const rank = (attention: Attention): number => ATTENTION_CODES.indexOf(attention.code);
    return [...this.#attentions.values()].toSorted((a, b) => rank(a) - rank(b));
  }

  get settled(): boolean {
    return SETTLED_STAGES.includes(this.stage);
  }

  get parked(): boolean {
    return this.#attentions.size > 0 || this.creditNoteAttention !== undefined;
  }

  /** The API has no cancellation: only what does not exist, or has failed, can be given up (contract, "Messages"). */
  get cancellable(): boolean {
    if (this.document) return this.document.status === "failed" || this.document.status === "cancelled";
    return !this.documentInDoubt;
  }

  get cancelDue(): boolean {
    return this.cancelRequested !== undefined && this.cancellable;
  }

  moveTo(stage: Stage, waitingFor: string): void {
    this.stage = stage;
    this.waitingFor = waitingFor;
    this.#publish();
  }

  raise(attention: Omit<Attention, "sinceMs" | "mendedBy">): string {
    const key = attentionKey(attention.code, attention.subject);
    if (!this.#attentions.has(key)) {
      this.#attentions.set(key, { ...attention, sinceMs: Date.now(), mendedBy: MENDED_BY[attention.code] });
      this.#publish();
    }
    return key;
  }

  needs(key: string): boolean {
    return this.#attentions.has(key);
  }

  clear(key: string): void {
    if (this.#attentions.delete(key)) this.#publish();
  }

  #publish(): void {
    publishRun(this);
    this.onPublish?.();
  }

  /** Ends once no attention is left: what a person must see is not closed away. */
  async nothingNeeded(): Promise<void> {
    await condition(() => this.#attentions.size === 0);
  }

  /** Where Temporal's own cancellation and the `cancel` update end: a wish until a step can carry it out. */
  requestCancel(reason: string): void {
    if (this.settled || this.stage === "crediting") this.refundWindowClosed = true;
    else this.cancelRequested ??= reason;
  }
}

export function attentionKey(code: AttentionCode, subject?: string): string {
  return subject === undefined ? code : `${code} ${subject}`;
}
