import { condition, workflowInfo } from "@temporalio/workflow";

import {
  ATTENTION_CODES,
  type Attention,
  type AttentionChange,
  type AttentionCode,
  type Decision,
  MENDED_BY,
  type RefundRequest,
  type RetryRequest,
  type SaleDocument,
  SETTLED_STAGES,
  type Stage,
  type StockMovement,
} from "../../src/contract/index.ts";
import type { RecordKeeping } from "../records/record-keeping.ts";
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
  /** What a person said of an unknown document. */
  documentDecision: { saleId: string } | "not-created" | undefined;
  /** When a person last asked to try again, whatever it was about (Unix milliseconds). */
  retriedAtMs: number | undefined;
  cancelRequested: string | undefined;
  refundWindowClosed = false;
  /** Whether a create request may have left. */
  numberTaken = false;
  /** From the moment a create request, or a resubmission, may have left until something says what became of it. */
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

  /** Set once it is known where the document belongs. */
  records: RecordKeeping | undefined;
  /** Attentions that were raised and cleared, and are not kept in the ledger yet. */
  readonly attentionChanges: AttentionChange[] = [];

  /** Called after each change that a person can see. */
  onPublish: (() => void) | undefined;

  readonly #attentions = new Map<string, Attention>();
  readonly #retries = new Map<string, number>();
  readonly #unfinished = new Set<Promise<unknown>>();

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

  /** Whether the document itself waits for a person: stock never holds it back, and a slow authority is still waited for. */
  get heldUp(): boolean {
    const beside = (code: AttentionCode): boolean => code.startsWith("stock-") || code === "authority-slow";
    return this.creditNoteAttention !== undefined || this.attentions.some(({ code }) => !beside(code));
  }

  /** The API has no cancellation: only what does not exist, or has failed, can be given up (contract, "Messages"). */
  get cancellable(): boolean {
    if (this.documentInDoubt) return false;
    return !this.document || this.document.status === "failed" || this.document.status === "cancelled";
  }

  get cancelDue(): boolean {
    return this.cancelRequested !== undefined && this.cancellable;
  }

  moveTo(stage: Stage, waitingFor: string): void {
    this.stage = stage;
    this.waitingFor = waitingFor;
    this.publish();
  }

  /** @param attention with `mendedBy` where not all that can mend its code makes sense here */
  raise(attention: NewAttention): string {
    const key = attentionKey(attention.code, attention.subject);
    if (!this.#attentions.has(key)) {
      const raised = { mendedBy: MENDED_BY[attention.code], ...attention, sinceMs: Date.now() };
      this.#attentions.set(key, raised);
      this.#tellOf("raised", raised);
      this.publish();
    }
    return key;
  }

  /** How often a person asked to try again what this attention is about. */
  retriesOf(key: string): number {
    return this.#retries.get(key) ?? 0;
  }

  /** A stock movement has changed its state. */
  stockMoved(): void {
    if (this.stage === "adjusting-stock") this.moveTo(this.inFlightStage, this.waitingFor);
    else this.publish();
  }

  /** In flight: until each movement has its first answer the stock is being adjusted, then only the authority is awaited. */
  get inFlightStage(): Stage {
    const moving = this.movements.some(({ state }) => state === "planned" || state === "sending");
    return moving ? "adjusting-stock" : "awaiting-authority";
  }

  /**
   * Counts a retry for what it means: the named attention, else everything that waits for one. A slow authority is only a notice: where
   * something else waits, that is what a retry without a name means.
   */
  countRetry(request: RetryRequest): void {
    this.retriedAtMs = Date.now();
    const waiting = this.attentions.filter((one) => one.mendedBy.includes("retry"));
    const named = waiting.filter(
      (one) =>
        (request.code === undefined || one.code === request.code) &&
        (request.subject === undefined || one.subject === request.subject),
    );
    const pressing = named.filter((one) => one.code !== "authority-slow");
    for (const { code, subject } of request.code !== undefined || pressing.length === 0 ? named : pressing) {
      const key = attentionKey(code, subject);
      this.#retries.set(key, this.retriesOf(key) + 1);
      const who = { ...(subject !== undefined && { subject }), ...(request.by !== undefined && { by: request.by }) };
      if (request.note !== undefined) {
        this.decisions.push({ update: "retry", code, note: request.note, ...who, atMs: Date.now() });
      }
    }
  }

  /** More is known of what an attention is about. */
  addEvidence(key: string, evidence: Record<string, unknown>): void {
    const attention = this.#attentions.get(key);
    if (!attention) return;
    attention.evidence = { ...attention.evidence, ...evidence };
    this.publish();
  }

  /** Something that nobody waits for, but that must be done before the run ends. */
  beforeTheEnd(work: Promise<unknown>): void {
    this.#unfinished.add(work);
    work.then(
      () => this.#unfinished.delete(work),
      () => undefined,
    );
  }

  /** Whether there is nothing that must be done, or kept, before the run ends. */
  get finished(): boolean {
    this.records?.look();
    return this.#unfinished.size === 0 && this.records?.busy !== true;
  }

  async nothingUnfinished(): Promise<void> {
    await Promise.all(this.#unfinished);
    await condition(() => this.finished);
  }

  needs(key: string): boolean {
    return this.#attentions.has(key);
  }

  clear(key: string): void {
    const cleared = this.#attentions.get(key);
    if (!cleared) return;
    this.#attentions.delete(key);
    this.#tellOf("cleared", cleared);
    this.publish();
  }

  #tellOf(change: "raised" | "cleared", attention: Attention): void {
    const { mendedBy: _mendedBy, ...about } = attention;
    this.attentionChanges.push({ change, ...about, atMs: Date.now() });
  }

  /** Shows the run as it is now. Costs an event only where a search attribute changes. */
  publish(): void {
    publishRun(this);
    this.records?.look();
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
    this.publish();
  }
}

export type NewAttention = Omit<Attention, "sinceMs" | "mendedBy"> & Partial<Pick<Attention, "mendedBy">>;

export function attentionKey(code: AttentionCode, subject?: string): string {
  return subject === undefined ? code : `${code} ${subject}`;
}
