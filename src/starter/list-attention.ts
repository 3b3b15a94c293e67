import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import { z } from "zod";

import { type Attention, type UpdateExample, updateExamples } from "../contract/attention.ts";
import { type AttentionCode, SEARCH_ATTRIBUTES, STATE_QUERY, WORKFLOW_TYPES } from "../contract/names.ts";
import { NO_BUSINESS } from "../contract/ids.ts";
import type { WorkflowState } from "../contract/messages.ts";
import { parseInput } from "../contract/schema/parse-input.ts";
import { businessIdentifier } from "../contract/schema/sale.ts";
import { isUndecodable } from "../payloads/codec.ts";
import { ANSWER_WITHIN_MS, answeredInTime } from "./answered-in-time.ts";
import { attributesOf } from "./sale-key.ts";
import { bounded, TEMPORAL_WITHIN_MS } from "./bound.ts";
import { NoAnswerError, NoWorkerError, queryOf, temporalError, warnOnce } from "./errors.ts";
import { listedRuns } from "./runs.ts";

/** One thing that needs an operator. */
export interface OpenAttention extends Pick<Attention, "subject" | "evidence"> {
  /** What the answer goes to: `starter.retry({ workflowId })`. */
  workflowId: string;
  /** The workflow's type: `sale`, or that of a background job. */
  workflow: string;
  /** The number of the sale; absent for a background job. */
  invoice?: string;
  businessId?: string;
  code: AttentionCode;
  message: string;
  /** Since when (Unix milliseconds); absent where the workflow did not answer. */
  sinceMs?: number;
  /** The updates that resolve it, with example JSON; empty where the workflow did not answer, or none is allowed. */
  updates: UpdateExample[];
}

export interface AttentionFilter {
  businessId?: string | undefined;
}

const filterSchema = z.object({ businessId: businessIdentifier.optional() });

/**
 * Temporal's list follows the workflows by a second or so. Each page of the list, and each question to a workflow, has
 * a bound. A workflow that does not answer is listed with what the list has of it.
 * @throws InvalidInputError, NoWorkerError, TemporalUnavailableError
 */
export async function* listAttention(client: Client, filter: AttentionFilter): AsyncGenerator<OpenAttention> {
  const { businessId } = parseInput(filterSchema, filter, "filter of the list");
  const ofBusiness = businessId === undefined ? "" : clauseOf(businessId);
  const query = `ExecutionStatus = "Running" AND ${SEARCH_ATTRIBUTES.attention} IS NOT NULL${ofBusiness}`;
  const executions = listedRuns(client, { query })[Symbol.asyncIterator]();
  for (let isEmpty = true; ; isEmpty = false) {
    const next = await nextOf(client, executions);
    if (next.done) {
      const unknown = isEmpty && businessId !== undefined ? await noWorkflowsOf(client, businessId) : undefined;
      if (unknown !== undefined) warnOnce("NoWorkflows", unknown);
      return;
    }
    const { code, ...listed } = listedOf(next.value);
    const handle = client.workflow.getHandle(listed.workflowId);
    try {
      const ask = () => handle.query<Pick<WorkflowState, "attentions">>(STATE_QUERY);
      const { attentions } = await bounded(client, ANSWER_WITHIN_MS, () =>
        answeredInTime(client, queryOf(listed.workflowId), ask),
      );
      for (const attention of attentions) yield { ...listed, ...shownOf(attention) };
    } catch (error) {
      // Deleted since it was listed.
      if (error instanceof WorkflowNotFoundError) continue;
      const isSilent = error instanceof NoAnswerError && !(error instanceof NoWorkerError);
      if (!(error instanceof Error) || (!isSilent && !isUndecodable(error))) throw error;
      yield { ...listed, code, message: error.message, updates: [] };
    }
  }
}

/** What to say of a business of which a list is empty, as that of a mistyped one is; undefined where it has workflows. */
async function noWorkflowsOf(client: Client, businessId: string): Promise<string | undefined> {
  // A question to the ledger carries the business that was asked for, whether there is one or not.
  const query = `WorkflowType NOT IN ("${WORKFLOW_TYPES.findSale}", "${WORKFLOW_TYPES.readEvents}")${clauseOf(businessId)}`;
  try {
    const { count } = await client.withDeadline(Date.now() + COUNT_WITHIN_MS, () => client.workflow.count(query));
    if (count > 0) return undefined;
    return `Temporal has no workflow, open or closed, of business "${businessId}". If it should have, check the name.`;
  } catch {
    // The list is whole without it.
    return undefined;
  }
}

function clauseOf(businessId: string): string {
  return ` AND ${SEARCH_ATTRIBUTES.business} = ${JSON.stringify(businessId)}`;
}

const COUNT_WITHIN_MS = 3_000;

function nextOf<T>(client: Client, pages: AsyncIterator<T, void>): Promise<IteratorResult<T, void>> {
  return bounded(client, TEMPORAL_WITHIN_MS, async () => {
    try {
      return await pages.next();
    } catch (error) {
      throw temporalError(error);
    }
  });
}

function shownOf(attention: Attention): Omit<OpenAttention, "workflowId" | "workflow"> {
  const { code, subject, message, sinceMs, evidence } = attention;
  return {
    code,
    ...(subject !== undefined && { subject }),
    message,
    sinceMs,
    ...(evidence && { evidence }),
    updates: updateExamples(attention),
  };
}

function listedOf(execution: WorkflowExecutionInfo) {
  const { workflowId, type } = execution;
  const attributes = attributesOf(execution);
  const invoice = attributes.get(SEARCH_ATTRIBUTES.invoice);
  const business = attributes.get(SEARCH_ATTRIBUTES.business);
  return {
    workflowId,
    workflow: type,
    ...(invoice !== undefined && { invoice }),
    ...(business !== undefined && business !== NO_BUSINESS && { businessId: business }),
    code: attributes.get(SEARCH_ATTRIBUTES.attention) as AttentionCode,
  };
}
