import {
  type BatchProgress,
  type SyncBatchOutcome,
  syncBatchWorkflowId,
  WORKFLOW_TYPES,
} from "../../contract/index.ts";
import type { JobCommand } from "../jobs/job-command.ts";
import { accountingScope } from "./accounting-scope.ts";

export function batchJob(syncBatchId: string): JobCommand<BatchProgress, SyncBatchOutcome> {
  return {
    workflow: WORKFLOW_TYPES.processSyncBatch,
    noun: "sync batch",
    group: "batch",
    argument: syncBatchId,
    input: { syncBatchId },
    workflowId: ({ connection }) => syncBatchWorkflowId({ connection, syncBatchId }),
    scopeOf: accountingScope,
    progressLine: ({ standing, message }) =>
      `${syncBatchId} is ${standing}${message === undefined ? "" : `: ${message}`}`,
    resultText: ({ saidBy, message }) =>
      saidBy === "service"
        ? `${syncBatchId} was processed: ${message}`
        : `${syncBatchId} was processed, as an operator said: ${message}`,
    inAFewWords: ({ saidBy }) => (saidBy === "service" ? "processed" : "processed, as an operator said"),
  };
}
