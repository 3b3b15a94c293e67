import type { AttentionCode } from "./names.ts";
import type { CallTarget, ComposedRequest } from "./connection.ts";
import type { Item, ResolvedLine } from "./documents.ts";
import type { SaleFields, SaleLineInput } from "./schema/sale.ts";
import type { ServiceTrouble } from "./service-trouble.ts";

/**
 * What the activities take and give. An answer that the workflow must decide upon is a result, never a failure: a
 * failed activity always means "try again later" (failure-model). Results are small and of fixed shape.
 */

export interface Refusal {
  kind: "refused";
  attention: AttentionCode;
  message: string;
  status?: number;
  apiCode?: string;
  /** Of a refused key: what it may not do, as the client names it. */
  operation?: string;
  /** The service never served it, for as long as a call is tried. */
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
  trouble?: ServiceTrouble | undefined;
}

export interface OperatorDecision {
  note: string;
  by?: string | undefined;
  atMs: number;
}

export interface Branch {
  id: string;
  authorityBhfId?: string;
}

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

/** Tried again until every line names one item, or until every item is registered. */
export interface AwaitItemsRequest extends ItemsRequest {
  until: "known" | "registered";
  sinceMs: number;
}

export type BranchResult = { kind: "branch"; branch: Branch } | Refusal;

export interface RegisterRequest extends CallTarget {
  itemId: string;
  branch?: Branch | undefined;
  force?: boolean | undefined;
}

export type RegisterResult =
  | { kind: "registered"; item: KnownItem }
  | { kind: "needs-data"; item: KnownItem; message: string }
  /** Lost, or answered without a clear outcome: read the items before another try. */
  | { kind: "converging"; message: string }
  | Refusal;

export interface ComposeSaleRequest
  extends CallTarget, Pick<SaleFields, "traderInvoiceNumber" | "paymentTypeCode" | "customer"> {
  saleDate: string;
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
  callbackExpected: boolean;
}

export type Composed = ComposedBody | Refusal;

/**
 * What the calls have in common that are sent at most once, a stock movement and a sync batch: each try is claimed in
 * the ledger before it is sent, and settled after (docs/architecture.md, "At most once").
 */

/** One try, as its claim knows it. */
export interface ClaimedTry {
  /** Counts from 1 the tries that were allowed to leave. */
  generation: number;
  /** Names this try, whichever run makes it. */
  token: string;
  /**
   * Executions of this try that ended without sending, and could not see whether the ledger had taken the claim for
   * them: held by one of these, it is free for the next execution.
   */
  unsent?: string[];
}

/**
 * One execution of an activity's code. Temporal makes another one whenever it has lost the first, or an operator asks
 * for it (more attempts, unpause, reset).
 */
export interface TakingExecution {
  execution: string;
  /** For so long, from when it asks for the claim, its request may leave and be answered (milliseconds). */
  underWayForMs: number;
  /** When its try was first asked for (Unix milliseconds): a restored database may have lost what came later. */
  scheduledAtMs: number;
}

export interface Unsettled {
  unsettled?: true;
}

/** An earlier execution may still be at it, and its claim says in the end what it came to. */
export interface CallUnderWay {
  kind: "in-progress";
  message: string;
}

export interface UnknownOutcome {
  kind: "unknown";
  message: string;
  evidence: Record<string, unknown>;
  /** Which try it is, if the claim says so: an earlier run may have got further than the one that asks. */
  generation?: number;
}

/** That try, and all before it, are known not to have been carried out: the next one may be sent. */
export interface SupersededTry<Decision extends OperatorDecision = OperatorDecision> {
  kind: "superseded";
  generation: number;
  /** If an operator has decided so. */
  decision?: Decision | undefined;
  /** An operator has acknowledged that the movement was refused: no next one is sent. */
  givenUp?: true;
}

/**
 * `sameTry`: this try has not left, and is asked for again. `execution`: the claim may be held for this one, which has
 * ended.
 */
export type DeferredTry = Deferred & Unsettled & { sameTry?: true; execution?: string };

/** Not sent, or refused, as the service says. */
export type NotDone<Kind extends string> = DeferredTry | ({ kind: Kind; refusal: Refusal } & Unsettled);

/** `putOff`: it is asked for again without a person. */
export interface NotDoneOutcome<Kind extends string> {
  kind: Kind;
  message: string;
  putOff?: true;
}

export function notDoneOutcome<Kind extends string>(kind: Kind, result: NotDone<Kind>): NotDoneOutcome<Kind> {
  return "refusal" in result
    ? { kind, message: result.refusal.message }
    : { kind, message: result.message, putOff: true };
}
