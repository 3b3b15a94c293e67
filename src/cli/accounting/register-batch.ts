import type { Command } from "commander";

import { type JobReply, syncBatchWorkflowId } from "../../contract/index.ts";
import { syncBatchIdentifier } from "../../contract/schema/job-inputs.ts";
import type { operations } from "../../starter/operate.ts";
import { parsedBy, waitSeconds } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import type { JobFlags } from "../jobs/job-command.ts";
import type { ResultFlags, Scope } from "../sale/scope.ts";
import { requestOf, withFieldsOf } from "../update-options.ts";
import { withConnection } from "./accounting-scope.ts";

type Operate = ReturnType<typeof operations>;

const parseBatch = parsedBy(syncBatchIdentifier);

export function registerBatch(program: Command, context: CliContext): void {
  const batch = program.command("batch").description("Have the accounting service process a sync batch, at most once.");
  withConnection(
    batch
      .command("process")
      .description("Process a sync batch. A processed batch is never sent again.")
      .argument("<id>", "the batch's id", parseBatch)
      .option("--wait [seconds]", "wait until it ends or needs an operator", waitSeconds),
  )
    .addHelpText(
      "after",
      `
Where the answer is lost, nobody knows whether the batch was processed: it is not sent again, and waits for \`batch resolve\`.

Example:
  fiscalflow batch process batch_1 --wait`,
    )
    .action(async (id: string, flags: JobFlags) => {
      const { runJob } = await import("../jobs/run-job.ts");
      const { batchJob } = await import("./batch-job.ts");
      await runJob(context, batchJob(id), { flags, options: {} });
    });
  withConnection(
    withFieldsOf(
      "retry",
      batch
        .command("retry")
        .description("Retry what the batch needed an operator for, after you have corrected it.")
        .argument("<id>", "the batch's id", parseBatch),
    ),
  ).action((id: string, flags: Scope & ResultFlags) =>
    operate(context, id, flags, (send, workflowId) => send.retry(workflowId, requestOf("retry", flags))),
  );
  withConnection(
    withFieldsOf(
      "resolveBatch",
      batch
        .command("resolve")
        .description("Tell whether a batch of unknown outcome was processed.")
        .argument("<id>", "the batch's id", parseBatch),
    ),
  )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow batch resolve batch_1 --processed --note 'seen in the dashboard'`,
    )
    .action(async (id: string, flags: Scope & ResultFlags) => {
      const request = requestOf("resolveBatch", flags);
      await operate(context, id, flags, (send, workflowId) => send.resolveBatch(workflowId, request));
    });
}

async function operate(
  context: CliContext,
  syncBatchId: string,
  flags: Scope & ResultFlags,
  act: (send: Operate, workflowId: string) => Promise<JobReply>,
): Promise<void> {
  const { operateJob } = await import("../jobs/operate-job.ts");
  const { accountingScope } = await import("./accounting-scope.ts");
  const workflowId = ({ connection }: { connection: string }): string =>
    syncBatchWorkflowId({ connection, syncBatchId });
  await operateJob(
    context,
    flags,
    { noun: "sync batch", start: "batch process ID", workflowId, scopeOf: accountingScope },
    act,
  );
}
