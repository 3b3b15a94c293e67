import type { Attention, AttentionCode, Decision } from "./attention.ts";
import type { Correction } from "./correction.ts";
import type { SaleDocument } from "./documents.ts";
import type { InAll } from "./payload-bounds.ts";
import type { Refund } from "./sale.ts";
import type { UpdateRequests } from "./schema/updates.ts";
import type { ServiceTrouble } from "./service-trouble.ts";
import type { Stage } from "./stages.ts";
import type { StockMovement } from "./stock-movement.ts";

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
