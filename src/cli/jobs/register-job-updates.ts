import { type Command, Option } from "commander";

import { ATTENTION_CODES, type AttentionCode } from "../../contract/index.ts";
import type { CliContext } from "../context.ts";
import { parseText, type ResultFlags, type Scope, withScope as withBusiness } from "../sale/scope.ts";
import type { OperatedJob, operateJob } from "./operate-job.ts";

interface RetryFlags extends Scope, ResultFlags {
  note?: string;
}

interface AcknowledgeFlags extends Scope, ResultFlags {
  code: AttentionCode;
  note: string;
  subject?: string;
}

/** `retry` and `acknowledge` of the one job that a business has. */
export function registerJobUpdates(
  group: Command,
  context: CliContext,
  job: OperatedJob & {
    /** The flags of its scope; default: connection and business. */
    withScope?: (command: Command) => Command;
  },
): void {
  const { noun, withScope = withBusiness } = job;
  withScope(
    group
      .command("retry")
      .description(`Retry what the ${noun} needed an operator for, after you have corrected it.`)
      .option("--note <text>", "what you corrected", parseText),
  ).action((flags: RetryFlags) => {
    const { note } = flags;
    return operate(context, flags, job, (operate, id) => operate.retry(id, note === undefined ? {} : { note }));
  });
  withScope(
    group
      .command("acknowledge")
      .description(`Acknowledge for good what the ${noun} cannot resolve, and let it continue.`)
      .addOption(
        new Option("--code <code>", "the attention code to acknowledge").choices(ATTENTION_CODES).makeOptionMandatory(),
      )
      .requiredOption("--note <text>", "why, in a few words", parseText)
      .option("--subject <subject>", "subject, when several attentions share the code"),
  ).action((flags: AcknowledgeFlags) => {
    const { code, note, subject } = flags;
    const request = { code, note, ...(subject !== undefined && { subject }) };
    return operate(context, flags, job, (operate, id) => operate.acknowledge(id, request));
  });
}

/** What Temporal's client needs is loaded when a command runs. */
async function operate(...call: Parameters<typeof operateJob>): Promise<void> {
  const loaded = await import("./operate-job.ts");
  await loaded.operateJob(...call);
}
