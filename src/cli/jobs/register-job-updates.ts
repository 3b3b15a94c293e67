import type { Command } from "commander";

import type { CliContext } from "../context.ts";
import { type ResultFlags, type Scope, withScope as withBusiness } from "../sale/scope.ts";
import { requestOf, withFieldsOf } from "../update-options.ts";
import type { OperatedJob, operateJob } from "./operate-job.ts";

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
  const retry = group
    .command("retry")
    .description(`Retry what the ${noun} needed an operator for, after you have corrected it.`);
  withScope(withFieldsOf("retry", retry)).action((flags: Scope & ResultFlags) => {
    const request = requestOf("retry", flags);
    return operate(context, flags, job, (operator, id) => operator.retry(id, request));
  });
  const acknowledge = group
    .command("acknowledge")
    .description(`Acknowledge for good what the ${noun} cannot resolve, and let it continue.`);
  withScope(withFieldsOf("acknowledge", acknowledge)).action((flags: Scope & ResultFlags) => {
    const request = requestOf("acknowledge", flags);
    return operate(context, flags, job, (operator, id) => operator.acknowledge(id, request));
  });
}

/** What Temporal's client needs is loaded when a command runs. */
async function operate(...call: Parameters<typeof operateJob>): Promise<void> {
  const loaded = await import("./operate-job.ts");
  await loaded.operateJob(...call);
}
