import { type Attention, type Decision, holdsUpDocument } from "./attention.ts";
import type { AttentionCode, Stage } from "./names.ts";
import type { Correction } from "./correction.ts";
import type { Receipt, SaleDocument } from "./documents.ts";
import type { InAll } from "./payload-bounds.ts";
import type { Refund, RefundRequest } from "./schema/sale.ts";
import type {
  AcknowledgeRequest,
  CancelRequest,
  OutcomeRequest,
  ResolveBatchRequest,
  ResolveDocumentRequest,
  ResolveStockRequest,
  RetryRequest,
} from "./updates.ts";
import type { ServiceTrouble } from "./service-trouble.ts";
import type { StockMovement } from "./stock-movement.ts";

/** Every message takes one JSON object or nothing, since Temporal's UI sends exactly one payload. */

export interface CallbackReceived {
  event?: string;
}

export interface FirstOutcomeRequest {
  workflowId: string;
  fingerprint?: string;
}

export type RefundUpdate = RefundRequest & { waitSeconds?: number | undefined };

export interface UpdateRequests {
  outcome: OutcomeRequest;
  refund: RefundUpdate;
  retry: RetryRequest;
  cancel: CancelRequest;
  resolveStock: ResolveStockRequest;
  resolveDocument: ResolveDocumentRequest;
  resolveBatch: ResolveBatchRequest;
  acknowledge: AcknowledgeRequest;
}

export interface JobReply {
  message: string;
  attention?: AttentionCode;
}

export interface MessageReply extends JobReply {
  stage: Stage;
}

/**
 * Answer of the `state` query. Of a document with too many lines for one payload it has no lines, but `linesLeftOut`.
 */
export interface WorkflowState {
  stage: Stage;
  waitingFor: string;
  attentions: Attention[];
  document: SaleDocument | null;
  /** That which reverses the sale, as far as it is. */
  creditNote?: SaleDocument | null;
  /** The refund as it was asked for, its date filled in: of a sale that is being credited or is credited. */
  refund?: Refund;
  /** Of the last refund, also once that was given up. */
  correction?: Correction;
  /** Of too many for one payload those that are not done come first; the others may be left out. */
  stockMovements: StockMovement[];
  decisions: Decision[];
  /** Set where movements, attentions or decisions are too many for one payload: the most pressing are there. */
  inAll?: InAll;
  /** What is wrong with the API, as a call that was deferred has met it. */
  serviceTrouble?: ServiceTrouble;
  /** A cancellation was asked for. Beside a completed sale: it came too late, and a refund reverses it. */
  cancelRequested?: string;
  creditNoteCancelRequested?: string;
  callbacksReceived: number;
  /** Signals that changed nothing: they could not be read, or the workflow has none of their name. Absent: none. */
  unreadMessages?: number;
  fingerprint?: string;
  /** False while it is certain that no create request has left: the number is free again when the run ends so. */
  numberTaken: boolean;
  /** Which `outcome` update to join for the next wait: `outcome:<fingerprint>:<nextWait>`. */
  nextWait: number;
}

/** Answer of `outcome`, and the workflow's result; lines as in the state. */
export interface SaleOutcome extends Pick<
  WorkflowState,
  "stage" | "creditNote" | "refund" | "correction" | "stockMovements" | "cancelRequested" | "numberTaken" | "nextWait"
> {
  sale: SaleDocument | null;
  receipt: Receipt | null;
  /** Set where movements are left out. */
  inAll?: Pick<InAll, "stockMovements">;
  /** The most pressing one; the `state` query has them all. */
  attention?: Attention;
  /** Set if the workflow ended without an outcome; the rest is what was true then. Never in a workflow's result. */
  closed?: ClosedRun;
}

export function outcomeOfState(state: WorkflowState): SaleOutcome {
  const { stage, document, creditNote, refund, stockMovements, cancelRequested, numberTaken, nextWait } = state;
  const { attentions, correction, inAll } = state;
  const attention = attentions.find((one) => holdsUpDocument(one, stockMovements)) ?? attentions[0];
  return {
    stage,
    sale: document,
    receipt: document?.receipt ?? null,
    ...(creditNote && { creditNote }),
    ...(refund && { refund: kept(refund) }),
    ...(correction && { correction }),
    stockMovements,
    ...(inAll?.stockMovements && { inAll: { stockMovements: inAll.stockMovements } }),
    ...(attention && { attention }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    numberTaken,
    nextWait,
  };
}

function kept({ replaceWith: _asked, ...refund }: Refund): Refund {
  return refund;
}

export function waitsForOperator(attention: string): string {
  return `an operator: ${attention}`;
}

export interface Waiting {
  waitingFor: string;
  attentions: readonly Pick<Attention, "code" | "subject">[];
  stockMovements: readonly Pick<StockMovement, "referenceId" | "state">[];
}

export function everythingWaitedFor({ waitingFor, attentions, stockMovements }: Waiting): string {
  const [first] = attentions;
  const sending = stockMovements.filter(({ state }) => state === "sending").length;
  const answers = sending === 1 ? "the answer to a stock movement" : `the answers to ${sending} stock movements`;
  // The call whose answer the main flow waits for is not made while the key is refused.
  const isRefused = first?.code === "credentials" && holdsUpDocument(first, stockMovements);
  const isSaid = isRefused || (first && waitingFor.startsWith("an operator"));
  const parts = [
    ...(first ? [waitsForOperator(first.code)] : []),
    ...(sending === 0 || /stock/.test(waitingFor) ? [] : [answers]),
    ...(isSaid || waitingFor === "nothing" ? [] : [waitingFor]),
  ];
  return parts.length === 0 ? waitingFor : parts.join("; and for ");
}

/** Nothing carries its sale on until it is restarted. A run that completed is none of these. */
export interface ClosedRun {
  status: ClosedStatus;
  /** Unix milliseconds. */
  atMs: number;
  reason?: string;
  /** Who ended it, as Temporal keeps it: an identity such as user@host. */
  by?: string;
  /** In a state: what was asked of it was refused, and nothing was sent. It is started again, and not restarted. */
  refused?: true;
  /** In a state: only the refund window was open. It needs no restart, and is refunded without one. */
  settled?: true;
}

/** Temporal's own words for them, as its lists are filtered by them. */
export const CLOSED_STATUSES = {
  terminated: "Terminated",
  failed: "Failed",
  "timed-out": "TimedOut",
  canceled: "Canceled",
} as const;

export type ClosedStatus = keyof typeof CLOSED_STATUSES;

export function closedInWords({ status, reason, by }: Omit<ClosedRun, "atMs">): string {
  const about = [reason === undefined ? undefined : JSON.stringify(reason), by].filter(Boolean).join(", ");
  return `${status === "timed-out" ? "timed out" : status}${about === "" ? "" : ` (${about})`}`;
}

/** After its subject: `failed ("no such item")`, `was terminated ("by mistake", user@host)`. */
export function endedInWords(closed: Omit<ClosedRun, "atMs">): string {
  const isPassive = closed.status === "terminated" || closed.status === "canceled";
  return `${isPassive ? "was " : ""}${closedInWords(closed)}`;
}

export const RESTARTED_MEMO = "restarted";

export interface Restarted {
  note: string;
  by: string;
  /** Unix milliseconds. */
  atMs: number;
  /** Whether the run before may have sent a create request: until the new run knows, nothing is cancelled. */
  sent: boolean;
}

/** What a memo says of a restart: anybody may have written it. */
export function restartedOf(memo: Readonly<Record<string, unknown>> | undefined): Restarted | undefined {
  const value = memo?.[RESTARTED_MEMO];
  if (typeof value !== "object" || value === null) return undefined;
  const { note, by, atMs, sent } = value as Record<string, unknown>;
  return typeof note === "string" && typeof by === "string" && typeof atMs === "number" && typeof sent === "boolean"
    ? { note, by, atMs, sent }
    : undefined;
}
