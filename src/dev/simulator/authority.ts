import type { AuthorityStep, DocumentStatus } from "./authority-step.ts";
import type { CallbackDelivery } from "./callback-delivery.ts";
import type { Changes } from "./changes.ts";
import type { DocumentRecord, Receipt } from "./document-record.ts";
import type { DocumentStore } from "./document-store.ts";
import type { Faults } from "./faults.ts";
import type { Receipts } from "./receipts.ts";
import type { Timers } from "./timers.ts";

interface Parts {
  nowMs: () => number;
  timers: Timers;
  changes: Changes;
  documents: DocumentStore;
  receipts: Receipts;
  callbacks: CallbackDelivery;
  faults: Faults;
  isRegistered: (itemId: string) => boolean;
}

/** What a submission came to; where it stands, the document's own status tells the rest. */
export type Ruling =
  | { kind: "stands" }
  | { kind: "rejected-without-document"; reason: string }
  | { kind: "answered"; step: Extract<AuthorityStep, { do: "answer" }> };

export type StatusExtras = { error?: string | null | undefined; receipt?: Partial<Receipt> | null | undefined };

/**
 * The scripted tax authority. States of a document: pending, ready_to_submit, retrying (in flight) → completed | failed
 * | cancelled; failed → in flight or completed by a retry.
 */
export class Authority {
  readonly #parts: Parts;
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

  /** What it does with a document: its number's script, else the default. */
  scripts(): { default: readonly AuthorityStep[]; documents: Record<string, readonly AuthorityStep[]> } {
    return { default: this.#default, documents: Object.fromEntries(this.#scripts) };
  }

  submit(record: DocumentRecord, occasion: "creation" | "retry"): Ruling {
    const invoice = record.sale.traderInvoiceNumber;
    const step = this.#disturbedStep(record) ?? this.#nextStep(record);
    const withoutDocument = step.do === "reject" && step.withoutDocument === true;
    if (occasion === "creation" && (step.do === "answer" || withoutDocument))
      this.#spentWithoutDocument.set(invoice, record.scriptPosition);
    if (step.do === "answer") return { kind: "answered", step };
    record.submissions += 1;
    if (occasion === "creation" && step.do === "reject" && withoutDocument)
      return { kind: "rejected-without-document", reason: step.reason };
    this.#apply(record, step);
    return withoutDocument ? { kind: "rejected-without-document", reason: step.reason } : { kind: "stands" };
  }

  /** Puts a document into a status by hand, with the receipt, the error and the callback that belong to it. */
  force(record: DocumentRecord, status: DocumentStatus, extras: StatusExtras = {}): void {
    this.#stopWaiting(record);
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
  #disturbedStep({ sale, businessId, idempotencyKey }: DocumentRecord): AuthorityStep | undefined {
    const facts = { saleId: sale.id, invoice: sale.traderInvoiceNumber, businessId, idempotencyKey };
    const fault = this.#parts.faults.strikeAuthority(facts);
    switch (fault?.kind) {
      case undefined:
        return undefined;
      case "rejected":
        return { do: "reject", reason: "Rejected because the simulator was told to" };
      case "in-flight":
        return { do: "down" };
      case "cancelled":
        return { do: "cancel", afterMs: fault?.delayMs ?? 0 };
    }
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
    if (!isInFlight(record.sale.status)) return;
    const step = this.#nextStep(record);
    if (step.do !== "answer") this.#apply(record, step);
  }

  #apply(record: DocumentRecord, step: Exclude<AuthorityStep, { do: "answer" }>): void {
    this.#stopWaiting(record);
    const decide = (): void => {
      record.cancelTimer = null;
      if (step.do === "accept") this.#accept(record);
      else if (step.do === "reject") this.#fail(record, step.reason);
      else if (step.do === "cancel") this.#cancel(record);
      this.#parts.changes.announce();
    };
    const delayMs = step.do === "down" ? null : step.do === "cancel" ? (step.afterMs ?? 0) : step.afterMs;
    if (delayMs === undefined) return decide();
    this.#putInFlight(record, step.status ?? "pending");
    if (delayMs !== null) record.cancelTimer = this.#parts.timers.after(delayMs, decide);
    return undefined;
  }

  #accept(record: DocumentRecord): void {
    const missing = record.sale.lines.find(({ itemId }) => !this.#parts.isRegistered(itemId));
    if (record.sale.type === "sale" && missing !== undefined)
      this.#fail(record, `Item ${missing.itemId} is not registered with the tax authority`);
    else this.#complete(record);
  }

  #complete(record: DocumentRecord): void {
    const { documents, receipts, callbacks, nowMs } = this.#parts;
    const { sale } = record;
    const original = sale.originalSaleId === null ? undefined : documents.get(sale.originalSaleId);
    sale.status = "completed";
    sale.error = null;
    sale.receipt ??= receipts.issue(
      sale,
      `${record.businessId}/${record.branchId}`,
      original?.sale.receipt?.cuInvoiceNo ?? null,
      nowMs(),
    );
    record.settledAtMs = nowMs();
    callbacks.outcome(record);
  }

  #fail(record: DocumentRecord, reason: string): void {
    record.sale.status = "failed";
    record.sale.error = reason;
    record.sale.receipt = null;
    record.settledAtMs = this.#parts.nowMs();
    this.#parts.callbacks.outcome(record);
  }

  #cancel(record: DocumentRecord): void {
    record.sale.status = "cancelled";
    record.sale.error = null;
    record.sale.receipt = null;
    record.settledAtMs = this.#parts.nowMs();
    this.#parts.callbacks.withdraw(record);
  }

  #putInFlight(record: DocumentRecord, status: DocumentStatus): void {
    record.sale.status = status;
    record.sale.error = null;
    record.sale.receipt = null;
    record.settledAtMs = null;
    this.#parts.callbacks.inFlight(record);
  }

  #stopWaiting(record: DocumentRecord): void {
    record.cancelTimer?.();
    record.cancelTimer = null;
  }
}

export function isInFlight(status: DocumentStatus): boolean {
  return status === "pending" || status === "ready_to_submit" || status === "retrying";
}
