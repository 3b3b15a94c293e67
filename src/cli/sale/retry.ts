import type { Command } from "commander";

import type { RetryRequest } from "../../contract/index.ts";
import { waitSeconds } from "../arguments.ts";
import { CommandFailedError, UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import { requestOf } from "../update-options.ts";
import { answerCommand, type ManyFlags, operateOneOrMany, requireOneWay } from "./operate-many.ts";
import { orCommands } from "./refusals.ts";
import { isUnsuccessful, outcomeLine } from "./render-document.ts";

const DEFAULT_WAIT_SECONDS = 60;

interface RetryFlags extends ManyFlags {
  wait?: true | number;
}

export function registerRetry(sale: Command, context: CliContext): void {
  answerCommand(sale, "retry", {
    description:
      "Retry what needed an operator, after you have corrected it: for one sale, or for all that a query finds.",
    help: `With --wait the command ends with 1 if the sale is cancelled, or needs an operator again before its document is completed.

Examples:
  fiscalflow sale retry INV-1001 --wait
  fiscalflow sale retry --query "FiscalAttention = 'credentials'"`,
    many: true,
  })
    .option("--wait [seconds]", `of one sale: wait for its outcome (default: ${DEFAULT_WAIT_SECONDS})`, waitSeconds)
    .action(async (invoice: string | undefined, flags: RetryFlags) => {
      requireOneWay(context, invoice, flags);
      const { query, wait } = flags;
      if (wait !== undefined && query !== undefined)
        throw new UsageError("--wait goes with one sale: leave --query out.");
      const request = requestOf("retry", flags);
      if (invoice !== undefined && wait !== undefined)
        await retryAndWait(context, invoice, flags, request, wait === true ? DEFAULT_WAIT_SECONDS : wait);
      else
        await operateOneOrMany(context, invoice, flags, { verb: "retry", done: "retried" }, (operate, id) =>
          operate.retry(id, request),
        );
    });
}

async function retryAndWait(
  context: CliContext,
  invoice: string,
  flags: RetryFlags,
  request: RetryRequest,
  seconds: number,
): Promise<void> {
  const { withSales } = await import("./with-sales.ts");
  const { troubleNotes } = await import("./trouble-notes.ts");
  await withSales(context, async (sales) => {
    const key = sales.keyOf(invoice, flags);
    const sent = sales.operate.retry(sales.starter.workflowId(key), request);
    const { message } = await sent.catch(orCommands({ ...flags, invoice }));
    const waited = sales.starter.outcome(key, { waitSeconds: seconds });
    const outcome = await troubleNotes(context, sales).during(key, waited);
    printResult(context, flags.json, { message, outcome }, `${invoice}: ${message} ${outcomeLine(outcome)}`);
    if (isUnsuccessful(outcome)) throw new CommandFailedError("");
  });
}
