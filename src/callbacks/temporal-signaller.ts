import { isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";
import type { Client } from "@temporalio/client";
import { syncBillPaymentsWorkflowId } from "../contract/ids.ts";
import { MAIN_TASK_QUEUE, SIGNALS, WORKFLOW_TYPES } from "../contract/names.ts";
import type { CallbackReceived } from "../contract/messages.ts";
import { aboutWorkflow } from "../contract/summary.ts";

/** gRPC's INVALID_ARGUMENT: among others, the workflow has taken as many signals as the server admits. */
const INVALID_ARGUMENT = 3;

/**
 * Temporal ends a run at 51,200 events; the largest sales have 10,000. What is left is for the run's own work.
 */
const EVENTS_FOR_CALLBACKS = 25_000;

/** `gone`: the workflow has closed or never was. `unreachable`: it is not known whether the signal arrived. */
export type SignalOutcome = "delivered" | "gone" | "unreachable";

export interface CallbackClient {
  /**
   * Starts the synchronisation of bill payments of an accounting connection, or asks the one that runs for another
   * pass.
   */
  requestSync(connection: string): Promise<"delivered" | "unreachable">;
  signalCallback(workflowId: string, callback: { event?: string }): Promise<SignalOutcome>;
  /** Whether the history of the workflow's run can take more signals; true where that is not known. */
  hasRoom(workflowId: string): Promise<boolean>;
  /** Whether Temporal answers; resolves within a bounded time. */
  isReachable(): Promise<boolean>;
}

export interface SignallerOptions {
  /** How long Temporal may take to accept a signal. Default 5,000. */
  signalTimeoutMs?: number;
  /** How long a question to Temporal may take. Default 2,000. */
  checkTimeoutMs?: number;
}

/** Tells workflows of their callbacks, through Temporal. Never throws: what went wrong is in the outcome. */
export function createTemporalSignaller(client: Client, options: SignallerOptions = {}): CallbackClient {
  const { signalTimeoutMs = 5_000, checkTimeoutMs = 2_000 } = options;
  return {
    async signalCallback(workflowId, callback) {
      try {
        await client.withDeadline(Date.now() + signalTimeoutMs, () =>
          client.workflow.getHandle(workflowId).signal<[CallbackReceived]>(SIGNALS.callbackReceived, callback),
        );
        return "delivered";
      } catch (error) {
        return outcomeOf(error);
      }
    },
    async hasRoom(workflowId) {
      try {
        const { historyLength } = await client.withDeadline(Date.now() + checkTimeoutMs, () =>
          client.workflow.getHandle(workflowId).describe(),
        );
        return historyLength < EVENTS_FOR_CALLBACKS;
      } catch {
        return true;
      }
    },
    async requestSync(connection) {
      try {
        await client.withDeadline(Date.now() + signalTimeoutMs, () =>
          client.workflow.signalWithStart(WORKFLOW_TYPES.syncBillPayments, {
            workflowId: syncBillPaymentsWorkflowId(connection),
            taskQueue: MAIN_TASK_QUEUE,
            args: [{ connection }],
            ...aboutWorkflow(WORKFLOW_TYPES.syncBillPayments, { connection }),
            signal: SIGNALS.syncRequested,
            signalArgs: [{}],
            workflowIdReusePolicy: "ALLOW_DUPLICATE",
          }),
        );
        return "delivered";
      } catch {
        return "unreachable";
      }
    },
    async isReachable() {
      try {
        await client.withDeadline(Date.now() + checkTimeoutMs, () =>
          client.workflowService.describeNamespace({ namespace: client.options.namespace }),
        );
        return true;
      } catch {
        return false;
      }
    },
  };
}

/**
 * `gone`: Temporal has answered, and a repetition would be answered the same. Everything else is `unreachable`, so
 * that the sender tries again.
 */
function outcomeOf(error: unknown): SignalOutcome {
  if (error instanceof WorkflowNotFoundError) return "gone";
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) && Number(cause.code) === INVALID_ARGUMENT ? "gone" : "unreachable";
}
