import { type Attention, type AttentionCode, type Decision, holdsUpDocument } from "./attention.ts";
import type { Correction } from "./correction.ts";
import type { SaleDocument } from "./documents.ts";
import type { InAll } from "./payload-bounds.ts";
import type { Refund } from "./schema/sale.ts";
import type { UpdateRequests } from "./schema/updates.ts";
import type { ServiceTrouble } from "./service-trouble.ts";
import type { Stage } from "./names.ts";
import type { StockMovement } from "./stock-movement.ts";
import type { SaleOutcome } from "./sale.ts";

export type { UpdateRequests } from "./schema/updates.ts";

/** Every message takes one JSON object or nothing, since Temporal's UI sends exactly one payload. */

export interface CallbackReceived {
  /** For display only. */
  event?: string;
}

/** What the workflow `firstOutcome` waits for. */
export interface FirstOutcomeRequest {
  /** Of a sale. */
  workflowId: string;
  /** Refused where the workflow's content is another. */
  fingerprint?: string;
}

/** What the updates take: declared, with what each field is for, in `schema/updates.ts`. */
export type OutcomeRequest = UpdateRequests["outcome"];
export type RefundUpdate = UpdateRequests["refund"];
export type RetryRequest = UpdateRequests["retry"];
export type CancelRequest = UpdateRequests["cancel"];
export type ResolveStockRequest = UpdateRequests["resolveStock"];
export type ResolveDocumentRequest = UpdateRequests["resolveDocument"];
export type ResolveBatchRequest = UpdateRequests["resolveBatch"];
export type AcknowledgeRequest = UpdateRequests["acknowledge"];

/** What an operator's update answers: what is true now, in words and in data. */
export interface JobReply {
  message: string;
  attention?: AttentionCode;
}

/** That of a sale. */
export interface MessageReply extends JobReply {
  stage: Stage;
}

/**
 * Answer of the `state` query. Of a document with too many lines for one payload it has no lines, but `linesLeftOut`.
 */
export interface WorkflowState {
  stage: Stage;
  /** In words: what happens next, and when. */
  waitingFor: string;
  attentions: Attention[];
  document: SaleDocument | null;
  /** That which reverses the sale, as far as it is. */
  creditNote?: SaleDocument | null;
  /** The refund as it was asked for. */
  refund?: Refund;
  /** How the correction stands that the last refund asks for, or asked for until it was given up. */
  correction?: Correction;
  stockMovements: StockMovement[];
  decisions: Decision[];
  /** Set where movements, attentions or decisions are too many for one payload: the most pressing are there. */
  inAll?: InAll;
  /** What is wrong with the API, as a call that was deferred has met it. */
  serviceTrouble?: ServiceTrouble;
  cancelRequested?: string;
  /** Why the credit note is to be given up, where that was asked for. */
  creditNoteCancelRequested?: string;
  callbacksReceived: number;
  /** Signals that changed nothing: they could not be read, or the workflow has none of their name. Absent: none. */
  unreadMessages?: number;
  fingerprint?: string;
  numberTaken: boolean;
  nextWait: number;
}

/**
 * The outcome as the state tells it: what the `outcome` update answers, and what a caller reads out of the `state`
 * query.
 */
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

/** A corrected sale of many lines is not repeated in every answer. */
function kept({ replaceWith: _asked, ...refund }: Refund): Refund {
  return refund;
}

/** The words of a list, and of the page of one sale. @param attention the code that stands first */
export function waitsForOperator(attention: string): string {
  return `an operator: ${attention}`;
}

export interface Waiting {
  /** In words: what happens next in the main flow, and when. */
  waitingFor: string;
  /** The most pressing first. */
  attentions: readonly Pick<Attention, "code" | "subject">[];
  stockMovements: readonly Pick<StockMovement, "referenceId" | "state">[];
}

/** What an open sale or credit note waits for: an operator before all else, and all that goes on beside. */
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
