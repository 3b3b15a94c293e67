import type { JobReply } from "../../contract/index.ts";
import { SaleNotFoundError } from "../../starter/errors.ts";
import { operations } from "../../starter/operate.ts";
import { CommandFailedError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import type { JobScope, ScopeOf } from "./job-command.ts";
import { withJobs } from "./with-jobs.ts";

export interface OperatedJob {
  /** In a sentence: `synchronisation`. */
  noun: string;
  /** The words that start it: `purchases sync`. */
  start: string;
  workflowId: (scope: JobScope) => string;
  scopeOf?: ScopeOf | undefined;
}

/** Sends an operator's update to a job, and prints what is true afterwards. */
export async function operateJob(
  context: CliContext,
  flags: Scope & ResultFlags,
  job: OperatedJob,
  act: (operate: ReturnType<typeof operations>, workflowId: string) => Promise<JobReply>,
): Promise<void> {
  await withJobs(
    context,
    async ({ client, scopeOf }) => {
      const workflowId = job.workflowId(scopeOf(flags));
      const reply = await act(operations(client), workflowId).catch((error: unknown) => {
        if (!(error instanceof SaleNotFoundError)) throw error;
        const check = `Check the connection, and the business or id; or start it: fiscalflow ${job.start}`;
        throw new CommandFailedError(
          `No ${job.noun} runs as ${workflowId}, so nothing waits for an operator. ${check}`,
        );
      });
      printResult(context, flags.json, { workflowId, ...reply }, `${workflowId}: ${reply.message}`);
    },
    job.scopeOf,
  );
}
