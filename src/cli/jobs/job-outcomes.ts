import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";

import { closedInWords } from "../../contract/index.ts";
import { closedRunOf } from "../../starter/closed-run.ts";
import { inParallel } from "../sale/in-parallel.ts";
import { jobCommandOf } from "./job-types.ts";

/** Temporal's list has neither results nor the first run of each job: each is a call or two. */
export const CALLS_AT_A_TIME = 8;

/** What each job ended with; null for one that runs, and for one whose history Temporal has deleted. */
export function jobOutcomes(client: Client, jobs: readonly WorkflowExecutionInfo[]): Promise<(string | null)[]> {
  return inParallel(jobs, CALLS_AT_A_TIME, (job) => outcomeOf(client, job));
}

async function outcomeOf(client: Client, job: WorkflowExecutionInfo): Promise<string | null> {
  if (job.status.name === "RUNNING") return null;
  const { workflowId, runId } = job;
  try {
    const closed = await closedRunOf(client, job);
    if (closed) return closedInWords(closed);
    const handle = client.workflow.getHandle(workflowId, runId, { followRuns: false });
    return jobCommandOf(job)?.inAFewWords((await handle.result()) as never) ?? null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
