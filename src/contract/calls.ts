import type { AttentionCode, Decision } from "./attention.ts";
import type { CallTarget, ComposedRequest, ConnectionProfile } from "./connection.ts";
import type { Correction } from "./correction.ts";
import type { Item, ResolvedLine, SaleDocument } from "./documents.ts";
import type { InputChecks } from "./input-checks.ts";
import type { CustomerInput, Refund, SaleFields, SaleLineInput } from "./schema/sale.ts";
import type { InAll } from "./payload-bounds.ts";
import type { ServiceTrouble } from "./service-trouble.ts";
import type { Stage } from "./names.ts";
import type { StockMovement } from "./stock-movement.ts";

/**
 * What the activities take and give. An answer that the workflow must decide upon is a result, never a failure: a
 * failed activity always means "try again later" (failure-model). Results are small and of fixed shape.
 */

/** An operator is needed before this can go on. */
export interface Refusal {
  kind: "refused";
  attention: AttentionCode;
  message: string;
  status?: number;
  apiCode?: string;
  /** Of a refused key: what it may not do, as the client names it. */
  operation?: string;
  /** It was tried for as long as a call is, and the service never served it. */
  unserved?: true;
  /** The API's `errors` and `branches`, or an excerpt of what came. */
  details?: Record<string, unknown>;
}

/** Certainly nothing happened. Without `retryAfterMs` the pause is the caller's choice. */
export interface Deferred {
  kind: "deferred";
  retryAfterMs?: number | undefined;
  /** What has to be there first; the caller waits for it instead of pausing. */
  waitFor?: "ledger" | undefined;
  message: string;
  /** What is wrong with the service, where that is why. */
  trouble?: ServiceTrouble | undefined;
}

/** What an operator has decided on an unknown outcome, as the ledger keeps it. */
export interface OperatorDecision {
  note: string;
  by?: string | undefined;
  atMs: number;
}

export interface Branch {
  id: string;
  authorityBhfId?: string;
}

/** The part of an item that a sale needs. */
export type KnownItem = Pick<Item, "id" | "name" | "stockTracked" | "registrationStatus" | "needs">;

/** Fiscal Compliance API, "Item registration"; any word but this one counts as not registered (failure model). */
export const REGISTERED = "REGISTERED";

export function isRegistered({ registrationStatus }: Pick<Item, "registrationStatus">): boolean {
  return registrationStatus === REGISTERED;
}

/** @param items of the lines, in their order */
export function resolvedLines(lines: readonly SaleLineInput[], items: readonly KnownItem[]): ResolvedLine[] {
  return items.map((item, i) => ({
    itemId: item.id,
    quantity: lines[i]?.quantity ?? 0,
    unitPrice: lines[i]?.unitPrice ?? 0,
  }));
}

/** As `prepareSale` answers it, lines that its input has are not repeated. */
export interface PreparedSale {
  profile: ConnectionProfile;
  sale: SaleFields & { saleDate: string };
  fingerprint: string;
  refundWindowMs: number;
  /** Where a refund that looks wrong is refused: what its date is checked for. */
  refundChecks?: InputChecks;
  /** Of its lines, where the catalogue of the process that prepared it has them all. */
  items?: KnownItem[];
  /** Its create request, where nothing has to be found out or registered first. */
  composed?: ComposedBody;
  /** The sale ended under an earlier run, which Temporal may have forgotten: nothing is left but a refund. */
  finished?: FinishedSale;
  /** Of a run that carries on another one. */
  earlier?: EarlierRun;
  /** Temporal has reset the run. */
  isReset?: true;
}

/** What is known of the runs before, which the run itself has still to find out. */
export interface EarlierRun {
  /** Whether a create request may have left. */
  sent: boolean;
  /** Whether the document is signed. */
  signed: boolean;
  /** As the row has it: this run has still to find it. */
  document?: SaleDocument;
  /** What operators decided in them. */
  decisions?: Decision[];
  /** Why the sale is to be cancelled, if it can be. */
  cancelRequested?: string;
  /** The movements that they decided about. */
  movements?: StockMovement[];
  /** Whose credit note was issued, or is under way. */
  refund?: Refund;
}

/** How a sale ended, as the ledger keeps it. */
export interface FinishedSale {
  stage: Stage;
  document: SaleDocument | null;
  creditNote: SaleDocument | null;
  refund?: Refund | undefined;
  correction?: Correction | undefined;
  movements: StockMovement[];
  /** Where there are more movements than these. */
  inAll?: InAll | undefined;
}

export interface ItemsRequest extends CallTarget {
  lines: SaleLineInput[];
  /** Use no catalogue that was read before this instant (Unix milliseconds). */
  notOlderThanMs?: number;
}

/** `items`: in the order of the lines; those in `unknown` have none. */
export type ItemsResult =
  | { kind: "resolved"; items: KnownItem[] }
  | { kind: "unknown"; unknown: { line: number; reason: string }[]; items: KnownItem[] }
  | Refusal;

/** Waits, as an activity that is tried again, until every line names one item, or until every item is registered. */
export interface AwaitItemsRequest extends ItemsRequest {
  until: "known" | "registered";
  sinceMs: number;
}

export type BranchResult = { kind: "branch"; branch: Branch } | Refusal;

export interface RegisterRequest extends CallTarget {
  itemId: string;
  branch?: Branch | undefined;
  /** Also an item that the tax authority already has. */
  force?: boolean | undefined;
}

export type RegisterResult =
  | { kind: "registered"; item: KnownItem }
  | { kind: "needs-data"; item: KnownItem; message: string }
  /** Lost, or answered without a clear word: read the items before another try. */
  | { kind: "converging"; message: string }
  | Refusal;

export interface ComposeSaleRequest extends CallTarget {
  traderInvoiceNumber: string;
  saleDate: string;
  paymentTypeCode?: string | undefined;
  customer?: CustomerInput | undefined;
  lines: ResolvedLine[];
  branch?: Branch | undefined;
  callback: "auto" | "off";
  workflowId: string;
}

export interface ComposeCreditNoteRequest extends CallTarget {
  traderInvoiceNumber: string;
  returnDate: string;
  saleId: string;
  reason: string;
  callback: "auto" | "off";
  workflowId: string;
}

export interface ComposedBody {
  kind: "composed";
  request: ComposedRequest;
  /** The body carries a callback URL. */
  callbackExpected: boolean;
}

export type Composed = ComposedBody | Refusal;
