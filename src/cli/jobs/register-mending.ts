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
export function registerMending(
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
      .description(`Try again what the ${noun} needed a person for, after mending it.`)
      .option("--note <text>", "what was mended", parseText),
  ).action((flags: RetryFlags) => {
    const { note } = flags;
    return mend(context, flags, job, (operate, id) => operate.retry(id, note === undefined ? {} : { note }));
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
    return mend(context, flags, job, (operate, id) => operate.acknowledge(id, request));
  });
}

/** What Temporal's client needs is loaded when a command runs. */
async function mend(...call: Parameters<typeof operateJob>): Promise<void> {
  const loaded = await import("./operate-job.ts");
  await loaded.operateJob(...call);
}
