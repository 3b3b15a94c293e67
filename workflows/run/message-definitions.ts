import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";

import {
  type AcknowledgeRequest,
  type CallbackReceived,
  type CancelRequest,
  type CreditNoteChanged,
  type JobReply,
  type MessageReply,
  type OutcomeRequest,
  type RefundRequest,
  type ResolveDocumentRequest,
  type ResolveStockRequest,
  type RetryRequest,
  type SaleOutcome,
  SIGNALS,
  STATE_QUERY,
  UPDATES,
  type WorkflowState,
} from "../../src/contract/index.ts";

/** Each takes one JSON object or nothing: Temporal's UI sends exactly one payload, which may be left empty. */
export const stateQuery = defineQuery<WorkflowState>(STATE_QUERY);

export const callbackReceived = defineSignal<[CallbackReceived?]>(SIGNALS.callbackReceived);
export const refundRequested = defineSignal<[RefundRequest]>(SIGNALS.refundRequested);
export const creditNoteChanged = defineSignal<[CreditNoteChanged]>(SIGNALS.creditNoteChanged);

export const outcomeUpdate = defineUpdate<SaleOutcome, [OutcomeRequest?]>(UPDATES.outcome);
export const refundUpdate = defineUpdate<SaleOutcome, [RefundRequest]>(UPDATES.refund);
export const retryUpdate = defineUpdate<JobReply, [RetryRequest?]>(UPDATES.retry);
export const cancelUpdate = defineUpdate<MessageReply, [CancelRequest]>(UPDATES.cancel);
export const resolveStockUpdate = defineUpdate<MessageReply, [ResolveStockRequest]>(UPDATES.resolveStock);
export const resolveDocumentUpdate = defineUpdate<MessageReply, [ResolveDocumentRequest]>(UPDATES.resolveDocument);
export const acknowledgeUpdate = defineUpdate<JobReply, [AcknowledgeRequest]>(UPDATES.acknowledge);
