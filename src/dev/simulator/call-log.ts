/**
 * One call as it arrived. `status` is null until it is answered, and stays null when a fault destroyed the connection.
 */
export interface CallEntry {
  atMs: number;
  operation: string;
  method: string;
  path: string;
  status: number | null;
  replayed: boolean;
  application: string | null;
  businessId: string | null;
  invoice: string | null;
  saleId: string | null;
  itemId: string | null;
  referenceId: string | null;
  idempotencyKey: string | null;
  fault: string | null;
}

export type CallFacts = Partial<
  Pick<CallEntry, "businessId" | "invoice" | "saleId" | "itemId" | "referenceId" | "idempotencyKey">
>;

export interface CallCounts {
  byOperation: Record<string, number>;
  byInvoice: Record<string, number>;
  total: number;
  rateLimited: number;
}

const keptCalls = 100_000;

/** Counts every call to the API and keeps the latest of them one by one. Control calls never come here. */
export class CallLog {
  #entries: CallEntry[] = [];
  #byOperation = new Map<string, number>();
  #byInvoice = new Map<string, number>();
  #total = 0;
  #rateLimited = 0;

  open(call: Pick<CallEntry, "atMs" | "operation" | "method" | "path" | "idempotencyKey">): CallEntry {
    const entry: CallEntry = {
      ...call,
      status: null,
      replayed: false,
      application: null,
      businessId: null,
      invoice: null,
      saleId: null,
      itemId: null,
      referenceId: null,
      fault: null,
    };
    this.#entries.push(entry);
    if (this.#entries.length > keptCalls * 1.1) this.#entries = this.#entries.slice(-keptCalls);
    this.#total += 1;
    this.#byOperation.set(entry.operation, (this.#byOperation.get(entry.operation) ?? 0) + 1);
    return entry;
  }

  /** Adds what is known about the call; its invoice is counted once. */
  note(entry: CallEntry, facts: CallFacts): void {
    const known = entry.invoice;
    Object.assign(entry, facts);
    if (known === null && entry.invoice !== null)
      this.#byInvoice.set(entry.invoice, (this.#byInvoice.get(entry.invoice) ?? 0) + 1);
  }

  countRateLimited(): void {
    this.#rateLimited += 1;
  }

  countOf(operation: string): number {
    return this.#byOperation.get(operation) ?? 0;
  }

  counts(): CallCounts {
    return {
      byOperation: Object.fromEntries(this.#byOperation),
      byInvoice: Object.fromEntries(this.#byInvoice),
      total: this.#total,
      rateLimited: this.#rateLimited,
    };
  }

  entries(): readonly CallEntry[] {
    return this.#entries.slice(-keptCalls);
  }

  reset(): void {
    this.#entries = [];
    this.#byOperation = new Map();
    this.#byInvoice = new Map();
    this.#total = 0;
    this.#rateLimited = 0;
  }
}
