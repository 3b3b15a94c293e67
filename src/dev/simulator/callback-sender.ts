import type { Callback, DocumentRecord } from "./document-record.ts";
import type { CallbackFaultKind } from "./fault-schema.ts";
import { postJson } from "./post-json.ts";
import { callbackAttemptTimeoutMs } from "./undocumented.ts";

/** One delivery attempt, as the books keep it. */
export interface CallbackAttempt {
  saleId: string;
  invoice: string;
  url: string;
  event: Callback["event"];
  atMs: number;
  responseStatus: number | null;
  error: string | null;
  /** What disturbed it, or made it: forgeries stand among the attempts too. */
  fault: CallbackFaultKind | null;
}

export interface Sending {
  record: DocumentRecord;
  url: string;
  event: Callback["event"];
  fault?: CallbackFaultKind | undefined;
  /** Default: the event and the document's id. */
  body?: unknown;
}

/** Sends callbacks and keeps the book of them. */
export class CallbackSender {
  readonly #nowMs: () => number;
  readonly #attempts: CallbackAttempt[] = [];
  readonly #stop = new AbortController();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Resolves to the attempt with what came of it; never rejects. */
  async send(sending: Sending): Promise<CallbackAttempt> {
    const attempt = this.#open(sending);
    const body = sending.body ?? { event: sending.event, saleId: attempt.saleId };
    try {
      attempt.responseStatus = await postJson(sending.url, body, callbackAttemptTimeoutMs, this.#stop.signal);
      if (attempt.responseStatus < 200 || attempt.responseStatus > 299)
        attempt.error = `HTTP ${attempt.responseStatus}`;
    } catch (error) {
      attempt.error = error instanceof Error ? error.message : String(error);
    }
    return attempt;
  }

  /** An attempt that never leaves, and that the service takes for delivered. */
  lose(sending: Sending): CallbackAttempt {
    const attempt = this.#open(sending);
    attempt.responseStatus = 200;
    return attempt;
  }

  attempts(): readonly CallbackAttempt[] {
    return this.#attempts;
  }

  get isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  close(): void {
    this.#stop.abort();
  }

  #open({ record, url, event, fault }: Sending): CallbackAttempt {
    const attempt: CallbackAttempt = {
      saleId: record.sale.id,
      invoice: record.sale.traderInvoiceNumber,
      url,
      event,
      atMs: this.#nowMs(),
      responseStatus: null,
      error: null,
      fault: fault ?? null,
    };
    this.#attempts.push(attempt);
    return attempt;
  }
}
