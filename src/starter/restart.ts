import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from "@temporalio/client";

import { MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES, WORKFLOW_TYPES } from "../contract/names.ts";
import { type Restarted, RESTARTED_MEMO } from "../contract/closed-run.ts";
import type { SaleStart } from "../contract/schema/sale.ts";
import { parseInput } from "../contract/schema/parse-input.ts";
import { restartRequestSchema } from "../contract/schema/updates.ts";
import { closedRunOf, doneIn } from "./closed-run.ts";
import { NotAllowedError, SaleNotFoundError } from "./errors.ts";
import { inputOfRun } from "./input-of-run.ts";
import { leftToDo } from "./state-of-sale.ts";

export interface RestartRequest {
  /** Why, in a few words; kept among the sale's decisions. */
  note: string;
  /** Who answers for it; default: the caller's identity. */
  by?: string | undefined;
}

export interface RestartReply {
  workflowId: string;
  /** The run that carries it on. */
  runId: string;
  /** `restarted`: by this call. `running`: somebody else's restart came first, and this call started nothing. */
  result: "restarted" | "running";
}

/**
 * Starts a sale anew, with the input of its last run, where that was terminated, failed or timed out.
 * The new run opens the sale's row, and takes over what that knows: the document, the movements, the decisions, and what
 * was asked for
 * (https://github.com/fiscalflow/fiscalflow/blob/main/docs/failure-model.md, "What may be done in Temporal's
 * UI"). Temporal itself lets only one run of the id be open, and none begin after one that completed: two restarts at
 * the same moment give one run.
 * @throws InvalidInputError; NotAllowedError where the last run is open, or completed; SaleNotFoundError
 */
export async function restartWorkflow(
  client: Client,
  workflowId: string,
  request: RestartRequest & { by: string },
): Promise<RestartReply> {
  const { note, by } = parseInput(restartRequestSchema, request, "restart");
  const run = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      throw error instanceof WorkflowNotFoundError ? new SaleNotFoundError(workflowId) : error;
    });
  if (run.type !== WORKFLOW_TYPES.sale)
    throw new NotAllowedError(`The workflow ${workflowId} is a ${run.type}: only sales are restarted.`);
  const closed = await closedRunOf(client, run);
  if (!closed) {
    const isRunning = run.status.name === "RUNNING";
    const is = isRunning
      ? "is running: what it waits for is answered by its updates (retry, cancel and so on)"
      : "is finished, so there is nothing to carry on";
    const { words, allowed } = isRunning ? { words: "", allowed: [] } : await leftToDo(client, run);
    throw new NotAllowedError(
      `The workflow ${workflowId} ${is}. Only one that was terminated, failed or timed out is restarted.${words}`,
      [],
      allowed,
    );
  }
  try {
    const handle = await client.workflow.start(WORKFLOW_TYPES.sale, {
      ...(await nextRun(client, run, { note, by })),
      workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
      workflowIdConflictPolicy: "FAIL",
    });
    return { workflowId, runId: handle.firstExecutionRunId, result: "restarted" };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    return { workflowId, runId, result: "running" };
  }
}

/** What lives of the attributes of the run before: the new one sets the others. */
const KEPT_ATTRIBUTES: readonly string[] = [SEARCH_ATTRIBUTES.business, SEARCH_ATTRIBUTES.invoice];

/** How the run is started that follows this one, with the same input. What became of that, the sale's row knows. */
async function nextRun(client: Client, run: WorkflowExecutionDescription, word: Pick<Restarted, "note" | "by">) {
  const [input] = await inputOfRun(client, run);
  const { isBegun, sent } = await doneIn(client, run);
  const restarted: Restarted = { ...word, atMs: Date.now(), sent };
  // Anybody may have started it, with anything. A refund that it has begun may have been given up since.
  const { refund, ...sale } = { ...(input as SaleStart) };
  const [staticSummary, staticDetails] = [await run.staticSummary(), await run.staticDetails()];
  return {
    workflowId: run.workflowId,
    taskQueue: MAIN_TASK_QUEUE,
    args: [{ ...sale, ...(refund && !isBegun && { refund }) }],
    memo: { ...run.memo, [RESTARTED_MEMO]: restarted },
    typedSearchAttributes: run.typedSearchAttributes.getAll().filter(({ key }) => KEPT_ATTRIBUTES.includes(key.name)),
    ...(staticSummary !== undefined && { staticSummary }),
    ...(staticDetails !== undefined && { staticDetails }),
  };
}
