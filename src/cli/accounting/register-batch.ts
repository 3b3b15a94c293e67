import type { Command } from "commander";

import { type JobReply, syncBatchWorkflowId } from "../../contract/index.ts";
import { syncBatchIdentifier } from "../../contract/schema/job-inputs.ts";
import type { operations } from "../../starter/operate.ts";
import { parsedBy, waitSeconds } from "../arguments.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import type { JobFlags } from "../jobs/job-command.ts";
import { parseText, type ResultFlags, type Scope } from "../sale/scope.ts";
import { withConnection } from "./accounting-scope.ts";

interface ResolveFlags extends Scope, ResultFlags {
  processed?: boolean;
  notProcessed?: boolean;
  note: string;
}

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
    batch
      .command("retry")
      .description("Retry what the batch needed an operator for, after you have corrected it.")
      .argument("<id>", "the batch's id", parseBatch)
      .option("--note <text>", "what you corrected", parseText),
  ).action((id: string, flags: Scope & ResultFlags & { note?: string }) =>
    operate(context, id, flags, (send, workflowId) =>
      send.retry(workflowId, flags.note === undefined ? {} : { note: flags.note }),
    ),
  );
  withConnection(
    batch
      .command("resolve")
      .description("Tell whether a batch of unknown outcome was processed.")
      .argument("<id>", "the batch's id", parseBatch)
      .option("--processed", "it was processed; it is not sent again")
      .option("--not-processed", "it was not processed; it is sent now")
      .requiredOption("--note <text>", "how you know, in a few words", parseText),
  )
    .addHelpText(
      "after",
      `
Example:
  fiscalflow batch resolve batch_1 --processed --note 'seen in the dashboard'`,
    )
    .action(async (id: string, flags: ResolveFlags) => {
      const { note, processed = false, notProcessed = false } = flags;
      if (processed === notProcessed) throw new UsageError("Give exactly one of --processed and --not-processed.");
      await operate(context, id, flags, (send, workflowId) => send.resolveBatch(workflowId, { processed, note }));
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
