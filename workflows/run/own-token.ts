import { uuid4, workflowInfo } from "@temporalio/workflow";

/**
 * A token of this run alone. A run that was reset replays what was drawn before its point: a random text alone would be the one under which the
 * run of before may have sent.
 */
export function ownToken(): string {
  return `${workflowInfo().runId}/${uuid4()}`;
}
