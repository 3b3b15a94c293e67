import type {
  DocumentToReconcile,
  PaymentComparison,
  PaymentRule,
  ReconcileOutcome,
  SaleDocument,
} from "../../contract/index.ts";
import type { Business, Writer } from "../events/chain.ts";

/** What the room says about reconciling: types alone. Functions throw LedgerUnavailableError while nothing can be said. */
export interface Reconciliation {
  /** Documents that the service has, and has not yet been seen to tell as final and the same, by type and number. */
  documents(business: Business, after: DocumentToReconcile | undefined, limit: number): Promise<DocumentToReconcile[]>;
  /**
   * Holds a document against what the service tells of it now; undefined: the service has none.
   * @returns `final`: the same, and not asked for again until the ledger knows another state
   */
  holdDocument(
    business: Business,
    document: DocumentToReconcile,
    told: SaleDocument | undefined,
    writer: Writer,
  ): Promise<"final" | "not-final" | "differs">;
  /** Supplier invoices against bill payments, as the ledger has them, once it has all of both. */
  holdPayments(
    business: Business,
    against: { accounting: string; rule: PaymentRule },
    writer: Writer,
  ): Promise<PaymentComparison>;
  /** What stands now, the eldest of each kind first. */
  findings(business: Business, limit: number): Promise<ReconcileOutcome["findings"]>;
}
