/**
 * One call of either service as it arrived. `status` is null until it is answered, and stays null when a fault
 * destroyed the connection.
 */
export interface CallEntry {
  atMs: number;
  operation: string;
  method: string;
  path: string;
  query: Record<string, string>;
  /** Whether it carried the accounting service's signature. */
  signed: boolean;
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

const factNames = ["businessId", "invoice", "saleId", "itemId", "referenceId", "idempotencyKey"] as const;

const keptCalls = 100_000;

/** Counts every call to a service by its operation, and keeps the latest of them one by one. */
export class CallLog {
  #entries: CallEntry[] = [];
  #byOperation: Record<string, number> = {};

  open(
    call: Pick<CallEntry, "atMs" | "operation" | "method" | "path" | "query" | "signed" | "idempotencyKey">,
  ): CallEntry {
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
    this.#byOperation[entry.operation] = (this.#byOperation[entry.operation] ?? 0) + 1;
    return entry;
  }

  /** Adds what is known about the call. */
  note(entry: CallEntry, facts: Readonly<Record<string, string | null | undefined>>): void {
    for (const name of factNames) entry[name] = facts[name] ?? entry[name];
  }

  /** What a fault can match. */
  factsOf(entry: CallEntry): Record<string, string | null> {
    return Object.fromEntries(factNames.map((name) => [name, entry[name]]));
  }

  byOperation(): Record<string, number> {
    return { ...this.#byOperation };
  }

  /** Copies of those that agree with every given field. */
  entries(filter: Partial<CallEntry> = {}): CallEntry[] {
    const wanted = Object.entries(filter);
    const agrees = (entry: CallEntry): boolean => wanted.every(([name, value]) => Reflect.get(entry, name) === value);
    return this.#entries.slice(-keptCalls).flatMap((entry) => (agrees(entry) ? [{ ...entry }] : []));
  }

  reset(): void {
    this.#entries = [];
    this.#byOperation = {};
  }
}
