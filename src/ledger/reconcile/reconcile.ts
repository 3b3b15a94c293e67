import type {
  DocumentToReconcile,
  PaymentComparison,
  PaymentRule,
  ReconcileFindings,
  SaleDocument,
} from "../../contract/index.ts";
import type { Business, Writer } from "../events/chain.ts";

/**
 * What the service answered about a document when it was asked for it. `message`: why that says nothing, without what a
 * message must not hold.
 */
export type DocumentAnswer =
  | { kind: "document"; document: SaleDocument }
  | { kind: "not-there" }
  | { kind: "unreadable"; message: string };

/**
 * The interface of the ledger for reconciling: types alone. Functions throw LedgerUnavailableError while nothing can be
 * said.
 */
export interface Reconciliation {
  /** Documents that the service has, and has not yet been seen to tell as final and the same, by type and number. */
  documents(business: Business, after: DocumentToReconcile | undefined, limit: number): Promise<DocumentToReconcile[]>;
  /**
   * Holds a document against what the service tells of it now.
   * @returns `final`: the same, and not asked for again until the ledger knows another state; `unreadable`: what was
   * found before stands; `given-up`: rejected, and its sale or credit note is cancelled, but it could still be
   * resubmitted in the API's dashboard
   */
  holdDocument(
    business: Business,
    document: DocumentToReconcile,
    answer: DocumentAnswer,
    writer: Writer,
  ): Promise<"final" | "not-final" | "given-up" | "differs" | "unreadable">;
  /** Supplier invoices against bill payments, as the ledger has them, once it has all of both. */
  holdPayments(
    business: Business,
    against: { accounting: string; rule: PaymentRule },
    writer: Writer,
  ): Promise<PaymentComparison>;
  /** What stands now, the eldest of each kind first. */
  findings(business: Business, limit: number): Promise<ReconcileFindings>;
  /** How many documents the service has told as final and the same, and have not changed since. */
  settled(business: Business): Promise<number>;
}
