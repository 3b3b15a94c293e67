import { type Command, Option } from "commander";

import { ATTENTION_CODES, type AttentionCode, type JobReply } from "../../contract/index.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../print-result.ts";
import { parseText, type ResultFlags, type Scope, withScope } from "../sale/scope.ts";
import type { operations } from "../../starter/index.ts";
import type { JobScope } from "./job-command.ts";

interface RetryFlags extends Scope, ResultFlags {
  note?: string;
}

interface AcknowledgeFlags extends Scope, ResultFlags {
  code: AttentionCode;
  note: string;
  subject?: string;
}

/** `retry` and `acknowledge` of the one job that a business has. */
export function registerMending(
  group: Command,
  context: CliContext,
  { noun, workflowId }: { noun: string; workflowId: (scope: JobScope) => string },
): void {
  withScope(
    group
      .command("retry")
      .description(`Try again what the ${noun} needed a person for, after mending it.`)
      .option("--note <text>", "what was mended", parseText),
  ).action((flags: RetryFlags) => {
    const { note } = flags;
    return mend(context, flags, workflowId, (operate, id) => operate.retry(id, note === undefined ? {} : { note }));
  });
  withScope(
    group
      .command("acknowledge")
      .description(`Take note, for good, of what the ${noun} cannot mend, and go on without it.`)
      .addOption(new Option("--code <code>", "what is taken note of").choices(ATTENTION_CODES).makeOptionMandatory())
      .requiredOption("--note <text>", "why, in a few words", parseText)
      .option("--subject <subject>", "where several carry the code: which of them"),
  ).action((flags: AcknowledgeFlags) => {
    const { code, note, subject } = flags;
    const request = { code, note, ...(subject !== undefined && { subject }) };
    return mend(context, flags, workflowId, (operate, id) => operate.acknowledge(id, request));
  });
}

type Operate = ReturnType<typeof operations>;

async function mend(
  context: CliContext,
  flags: Scope & ResultFlags,
  workflowIdOf: (scope: JobScope) => string,
  send: (operate: Operate, workflowId: string) => Promise<JobReply>,
): Promise<void> {
  const { withJobs } = await import("./with-jobs.ts");
  const starter = await import("../../starter/index.ts");
  await withJobs(context, async ({ client, scopeOf }) => {
    const workflowId = workflowIdOf(scopeOf(flags));
    const reply = await send(starter.operations(client, starter.callerIdentity()), workflowId);
    printResult(context, flags.json, { workflowId, ...reply }, `${workflowId}: ${reply.message}`);
  });
}
