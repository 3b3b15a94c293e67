import type { Callbacks } from "./callbacks.ts";
import { type DocumentRecord, type DocumentStore, factsOf, type Receipt, Receipts } from "./documents.ts";
import { type AuthorityStep, type DocumentStatus, isInFlight } from "./scenario.ts";
import type { Surroundings } from "./service.ts";

interface Parts extends Surroundings {
  readonly documents: DocumentStore;
  readonly callbacks: Callbacks;
  readonly isRegistered: (itemId: string) => boolean;
}

/** What goes with a status set by hand: the error of a failed document, or changes to a completed one's receipt. */
export type StatusExtras = { error?: string | null; receipt?: Partial<Receipt> | null };

/**
 * The scripted tax authority. States of a document: pending, ready_to_submit, retrying (in flight) → completed | failed
 * | cancelled; failed → in flight or completed by a retry.
 */
export class Authority {
  readonly #parts: Parts;
  readonly #receipts = new Receipts();
  readonly #scripts = new Map<string, readonly AuthorityStep[]>();
  /** Steps of a script that were used by creations which left no document to remember them. */
  readonly #spentWithoutDocument = new Map<string, number>();
  #default: readonly AuthorityStep[] = [{ do: "accept" }];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** From now on the steps decide this number's documents, those in flight at once, others at their next submission. */
  setScript(invoice: string, steps: readonly AuthorityStep[]): void {
    this.#scripts.set(invoice, [...steps]);
    this.#spentWithoutDocument.delete(invoice);
    for (const record of this.#parts.documents.withInvoice(invoice)) this.#decideAgain(record);
    this.#parts.changes.announce();
  }

  /** The same for every document without a script of its own. */
  setDefault(step: AuthorityStep): void {
    this.#default = [step];
    for (const record of this.#parts.documents.all())
      if (!this.#scripts.has(record.sale.traderInvoiceNumber)) this.#decideAgain(record);
    this.#parts.changes.announce();
  }

  /** The reason of a rejection whose answer names no document; else the document's own status tells what came of it. */
  submit(record: DocumentRecord, occasion: "creation" | "retry"): string | null {
    const step = this.#disturbedStep(record) ?? this.#nextStep(record);
    const reason = step.do === "reject" && step.withoutDocument === true ? step.reason : null;
    record.submissions += 1;
    if (reason !== null && occasion === "creation")
      this.#spentWithoutDocument.set(record.sale.traderInvoiceNumber, record.scriptPosition);
    else this.#apply(record, step);
    return reason;
  }

  /** Puts a document into a status by hand, with the receipt, the error and the callback that belong to it. */
  force(record: DocumentRecord, status: DocumentStatus, extras: StatusExtras = {}): void {
    record.cancelTimer?.();
    if (status === "completed") this.#complete(record);
    else if (status === "failed") this.#fail(record, extras.error ?? "The tax authority rejected the document");
    else if (status === "cancelled") this.#cancel(record);
    else this.#putInFlight(record, status);
    if (extras.receipt === null) record.sale.receipt = null;
    else if (extras.receipt !== undefined && record.sale.receipt !== null)
      Object.assign(record.sale.receipt, extras.receipt);
    this.#parts.changes.announce();
  }

  /** What a fault puts in the place of the script's step, which stays for the next submission. */
  #disturbedStep(record: DocumentRecord): AuthorityStep | undefined {
    const fault = this.#parts.faults.strikeAuthority(factsOf(record));
    if (fault === undefined) return undefined;
    if (fault.kind === "rejected") return { do: "reject", reason: "Rejected because the simulator was told to" };
    return fault.kind === "in-flight" ? { do: "down" } : { do: "cancel", afterMs: fault.delayMs ?? 0 };
  }

  #nextStep(record: DocumentRecord): AuthorityStep {
    const invoice = record.sale.traderInvoiceNumber;
    const script = this.#scripts.get(invoice) ?? this.#default;
    if (record.script !== script) {
      record.script = script;
      record.scriptPosition = this.#spentWithoutDocument.get(invoice) ?? 0;
    }
    const step = script[Math.min(record.scriptPosition, script.length - 1)];
    record.scriptPosition += 1;
    return step ?? { do: "accept" };
  }

  #decideAgain(record: DocumentRecord): void {
    if (isInFlight(record.sale.status)) this.#apply(record, this.#nextStep(record));
  }

  #apply(record: DocumentRecord, step: AuthorityStep): void {
    record.cancelTimer?.();
    const decide = (): void => {
      if (step.do === "accept") this.#accept(record);
      else if (step.do === "reject") this.#fail(record, step.reason);
      else if (step.do === "cancel") this.#cancel(record);
      this.#parts.changes.announce();
    };
    const afterMs = step.do === "down" ? undefined : (step.afterMs ?? (step.do === "cancel" ? 0 : undefined));
    if (step.do !== "down" && afterMs === undefined) return decide();
    this.#putInFlight(record, step.status ?? "pending");
    if (afterMs !== undefined) record.cancelTimer = this.#parts.timers.after(afterMs, decide);
    return undefined;
  }

  #accept(record: DocumentRecord): void {
    const missing = record.sale.lines.find(({ itemId }) => !this.#parts.isRegistered(itemId));
    if (record.sale.type === "sale" && missing !== undefined)
      this.#fail(record, `Item ${missing.itemId} is not registered with the tax authority`);
    else this.#complete(record);
  }

  #complete(record: DocumentRecord): void {
    const { documents, callbacks, nowMs } = this.#parts;
    const { sale } = record;
    const original = sale.originalSaleId === null ? undefined : documents.get(sale.originalSaleId);
    sale.status = "completed";
    sale.error = null;
    sale.receipt ??= this.#receipts.issue(
      sale,
      `${record.businessId}/${record.branchId}`,
      original?.sale.receipt?.cuInvoiceNo ?? null,
      nowMs(),
    );
    callbacks.outcome(record);
  }

  #fail(record: DocumentRecord, reason: string): void {
    this.#withoutReceipt(record, "failed", reason);
    this.#parts.callbacks.outcome(record);
  }

  #cancel(record: DocumentRecord): void {
    this.#withoutReceipt(record, "cancelled", null);
    this.#parts.callbacks.withdraw(record);
  }

  #putInFlight(record: DocumentRecord, status: DocumentStatus): void {
    this.#withoutReceipt(record, status, null);
    this.#parts.callbacks.inFlight(record);
  }

  #withoutReceipt(record: DocumentRecord, status: DocumentStatus, error: string | null): void {
    Object.assign(record.sale, { status, error, receipt: null });
  }
}
