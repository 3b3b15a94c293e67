import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from "@temporalio/client";

import type {
  AcknowledgeRequest,
  CancelRequest,
  MessageReply,
  ResolveDocumentRequest,
  ResolveStockRequest,
  RetryRequest,
} from "../contract/messages.ts";
import { UPDATES } from "../contract/names.ts";
import type { ResolveBatchRequest } from "../contract/sync-batch.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { SaleNotFoundError, temporalError, workflowError } from "./errors.ts";

/** Who answers, where the caller does not say: the person at this machine. A container's user may have no name. */
export function callerIdentity(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname();
  }
}

/**
 * The updates by which a person mends a workflow, each by its workflow id. Each says what is true afterwards.
 * @param identity who answers for a decision where the request does not say; default: user@host
 * @throws NotAllowedError, SaleNotFoundError, NoAnswerError, NoWorkerError, TemporalUnavailableError
 */
export function operations(client: Client, identity: string = callerIdentity()) {
  async function send(workflowId: string, update: string, payload: object): Promise<MessageReply> {
    const handle = client.workflow.getHandle(workflowId);
    const updateId = randomUUID();
    try {
      return await answeredInTime(client, workflowId, () =>
        handle.executeUpdate<MessageReply, [object]>(update, { args: [payload], updateId }),
      );
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw new SaleNotFoundError(workflowId);
      if (error instanceof WorkflowUpdateFailedError) throw workflowError(error.cause ?? error);
      throw temporalError(error);
    }
  }
  return {
    retry: (workflowId: string, request: RetryRequest = {}) => send(workflowId, UPDATES.retry, request),
    cancel: (workflowId: string, request: CancelRequest) => send(workflowId, UPDATES.cancel, request),
    resolveStock: (workflowId: string, request: ResolveStockRequest) =>
      send(workflowId, UPDATES.resolveStock, { by: identity, ...request }),
    resolveDocument: (workflowId: string, request: ResolveDocumentRequest) =>
      send(workflowId, UPDATES.resolveDocument, { by: identity, ...request }),
    resolveBatch: (workflowId: string, request: ResolveBatchRequest) =>
      send(workflowId, UPDATES.resolveBatch, { by: identity, ...request }),
    acknowledge: (workflowId: string, request: AcknowledgeRequest) =>
      send(workflowId, UPDATES.acknowledge, { by: identity, ...request }),
  };
}
