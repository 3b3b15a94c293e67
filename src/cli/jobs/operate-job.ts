import type { JobReply } from "../../contract/index.ts";
import { callerIdentity, operations } from "../../starter/index.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../print-result.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import type { JobScope, ScopeOf } from "./job-command.ts";
import { withJobs } from "./with-jobs.ts";

/** Sends an operator's update to a job, and prints what is true afterwards. */
export async function operateJob(
  context: CliContext,
  flags: Scope & ResultFlags,
  job: { workflowId: (scope: JobScope) => string; scopeOf?: ScopeOf | undefined },
  act: (operate: ReturnType<typeof operations>, workflowId: string) => Promise<JobReply>,
): Promise<void> {
  await withJobs(
    context,
    async ({ client, scopeOf }) => {
      const workflowId = job.workflowId(scopeOf(flags));
      const reply = await act(operations(client, callerIdentity()), workflowId);
      printResult(context, flags.json, { workflowId, ...reply }, `${workflowId}: ${reply.message}`);
    },
    job.scopeOf,
  );
}
