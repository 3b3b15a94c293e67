import type { Client } from "@temporalio/client";

import { NO_BUSINESS } from "../contract/ids.ts";
import { MAIN_TASK_QUEUE, SEARCH_ATTRIBUTES, type WorkflowType } from "../contract/names.ts";
import { aboutWorkflow } from "../contract/summary.ts";
import { answeredInTime } from "./answered-in-time.ts";
import { within } from "./bound.ts";
import { questionToLedger } from "./no-answer.ts";

interface QuestionToLedger<Input> {
  workflowId: string;
  input: Input;
  connection: string;
  businessId: string | undefined;
  /** What it is about, in words. */
  about: string;
  /** Without a worker the question ends by itself: nobody reads a late answer. */
  executionTimeout: "30 seconds" | "45 seconds";
  answerWithinMs: number;
  /** Once it is aborted, nothing more is asked. */
  signal?: AbortSignal | undefined;
}

/** Asks by a short workflow, so that a caller needs no database, or joins the one that asks the same just now. */
export function askLedger<Input, Answer>(
  client: Client,
  type: WorkflowType,
  {
    workflowId,
    input,
    connection,
    businessId,
    about,
    executionTimeout,
    answerWithinMs,
    signal,
  }: QuestionToLedger<Input>,
): Promise<Answer> {
  const ask = async () => {
    const handle = await client.workflow.start<(asked: Input) => Promise<Answer>>(type, {
      workflowId,
      taskQueue: MAIN_TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowIdConflictPolicy: "USE_EXISTING",
      workflowExecutionTimeout: executionTimeout,
      typedSearchAttributes: [
        { key: { name: SEARCH_ATTRIBUTES.business, type: "KEYWORD" }, value: businessId ?? NO_BUSINESS },
      ],
      ...aboutWorkflow(type, { connection, businessId }, about),
    });
    return await within(client, answerWithinMs, () => handle.result());
  };
  return answeredInTime(client, questionToLedger(about), ask, { withinMs: answerWithinMs, signal });
}
