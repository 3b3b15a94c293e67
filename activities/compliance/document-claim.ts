import type { ComposedRequest, CreateRequest, CreateResult, CreateSaleRequest } from "../../src/contract/index.ts";
import { type Ledger, LedgerUnavailableError, wordOf } from "../../src/ledger/index.ts";
import { currentHolder, keySentWith, numberTaken } from "../ledger/beside-calls.ts";

/** What is to be sent: the bytes that were sent first, and since when something of them may have left. */
interface ToSend {
  kind: "send";
  request: ComposedRequest;
  firstSentAtMs: number | undefined;
}

/**
 * The claim of one intent for a document. It holds the bytes that were sent first, so that every attempt of every run
 * sends the same under the same key, and the document's id once it is known, so that a run which begins anew takes it
 * over (docs/architecture.md, "One document for a number").
 */
export class DocumentClaim {
  readonly #ledger: Ledger;
  readonly #request: CreateRequest | CreateSaleRequest;
  readonly #nowMs: () => number;
  #claimed = false;

  constructor(ledger: Ledger, request: CreateRequest | CreateSaleRequest, nowMs: () => number) {
    this.#ledger = ledger;
    this.#request = request;
    this.#nowMs = nowMs;
  }

  /** @throws LedgerUnavailableError */
  async begin(): Promise<ToSend | CreateResult> {
    const idempotencyKey = keySentWith(this.#request);
    const { request, content, numberFor: number } = this.#request;
    const holder = currentHolder();
    const call = { ...this.#key, idempotencyKey, content, request, holder, number, nowMs: this.#nowMs() };
    const answer = await this.#ledger.documents.begin(call);
    switch (answer.kind) {
      case "send": {
        this.#claimed = true;
        // Written by this class alone, as it was given.
        const first = answer.request as ComposedRequest;
        const firstSentAtMs = answer.first ? undefined : answer.firstSentAtMs;
        return { kind: "send", request: first, firstSentAtMs };
      }
      case "known":
        return { kind: "named", saleId: answer.documentId, message: "An earlier run of this workflow made it." };
      case "behind": {
        const { intent, decision } = answer;
        return { kind: "superseded", intent, ...(decision && { decision: wordOf(decision) }) };
      }
      case "number-taken": {
        const message = `${numberTaken(number?.number ?? "", answer)} Nothing was sent. Use another number.`;
        return { kind: "number-taken", message };
      }
      case "different": {
        const firstSentAt = new Date(answer.firstSentAtMs).toISOString();
        const message = `An earlier run sent another request under this number at ${firstSentAt}, and what became of it is not known.`;
        return { kind: "unknown", message, evidence: { firstSentAt } };
      }
    }
  }

  /** For a request that may be repeated under its key in any case: tills go on selling while the database is away. */
  async beginOrGoOn(): Promise<ToSend | CreateResult> {
    try {
      return await this.begin();
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
      return { kind: "send", request: this.#request.request, firstSentAtMs: undefined };
    }
  }

  /** The document exists, in whatever status. False where the ledger does not know of it yet. */
  settleCreated(documentId: string): Promise<boolean> {
    return this.#settle({ kind: "document", documentId });
  }

  /** Nothing of this intent exists, and nothing is in doubt: it may be sent again, with other bytes too. */
  settleUnsent(): Promise<boolean> {
    return this.#settle({ kind: "unsent" });
  }

  async #settle(outcome: { kind: "document"; documentId: string } | { kind: "unsent" }): Promise<boolean> {
    if (!this.#claimed) return false;
    try {
      await this.#ledger.documents.settle({ ...this.#key, outcome, nowMs: this.#nowMs() });
      return true;
    } catch (error) {
      if (error instanceof LedgerUnavailableError) return false;
      throw error;
    }
  }

  get #key() {
    const { claim, intent } = this.#request;
    return { workflowId: claim, intent };
  }
}
