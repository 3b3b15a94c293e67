import type { Command } from "commander";

import { syncBatchWorkflowId } from "../../contract/index.ts";
import { syncBatchIdentifier } from "../../contract/schema/job-inputs.ts";
import { parsedBy, waitSeconds } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import type { JobFlags } from "../jobs/job-command.ts";
import { registerJobUpdates } from "../operate/operating-commands.ts";
import { accountingScope, withConnection } from "./accounting-scope.ts";

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
  registerJobUpdates(
    batch,
    context,
    {
      noun: "sync batch",
      start: "batch process ID",
      argument: { name: "id", description: "the batch's id", parse: parseBatch },
      workflowId: ({ connection }, syncBatchId) => syncBatchWorkflowId({ connection, syncBatchId }),
      scopeOf: accountingScope,
      withScope: withConnection,
    },
    ["retry", "resolveBatch"],
  );
}
