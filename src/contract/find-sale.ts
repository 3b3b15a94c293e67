import type { Decision } from "./attention.ts";
import type { InAll } from "./payload-bounds.ts";
import type { DocumentRecord } from "./records.ts";
import type { StockMovement } from "./stock-movement.ts";

/**
 * What the `findSale` workflow takes and gives: it asks the ledger for a sale whose workflow Temporal may have deleted.
 */

export interface FindSaleInput {
  connection?: string;
  businessId?: string;
  traderInvoiceNumber: string;
}

/**
 * A sale or a credit note as the ledger keeps it. Lines, movements, attentions and decisions that are too many for one
 * payload are left out, as in the `state` query.
 */
export interface KeptDocument extends Omit<
  DocumentRecord,
  "type" | "content" | "options" | "movementsPlanned" | "expectedTotal"
> {
  movements: StockMovement[];
  /** What operators decided, in all runs. */
  decisions: Decision[];
  /** Set where movements, attentions or decisions are left out. */
  inAll?: InAll;
  /** When the ledger last wrote down a change of it (Unix milliseconds). */
  keptAtMs: number;
  /** The workflow run that wrote it to the ledger. */
  keptBy: { workflowId: string; runId: string };
}

export interface FoundSale extends KeptDocument {
  /** Nothing is left to be done but a refund. */
  isThrough: boolean;
  /** The credit note that reverses it: the signed one, else the one that the ledger heard of last. */
  creditNote: KeptDocument | null;
}

export interface FindSaleResult {
  /** Null where the ledger has no sale of that number. */
  found: FoundSale | null;
  /** Where the number is a credit note's instead: that of the sale that it reverses. */
  creditNoteOf?: string;
}
