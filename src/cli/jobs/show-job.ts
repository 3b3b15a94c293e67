import {
  DEFAULT_CONNECTION,
  endedInWords,
  type JobState,
  nairobiTime,
  NO_BUSINESS,
  SEARCH_ATTRIBUTES,
} from "../../contract/index.ts";
import { attributesOf } from "../../starter/attributes.ts";
import { closedRunOf, lastRunOf } from "../../starter/closed-run.ts";
import { CommandFailedError } from "../cli-error.ts";
import { withTemporal } from "../connect-temporal.ts";
import type { CliContext } from "../context.ts";
import { printResult } from "../output.ts";
import type { ResultFlags } from "../sale/scope.ts";
import { chainStartMs, resultOf, stateOfJob } from "./follow-job.ts";
import { jobCommandOf } from "./job-types.ts";
import { attentionLines, standingText } from "./run-job.ts";

/**
 * Prints where a job stands, with the commands that resolve what it needs an operator for, or what it ended with.
 * @throws CommandFailedError; NoAnswerError where no worker answers for a job that runs
 */
export async function showJob(context: CliContext, workflowId: string, { json }: ResultFlags): Promise<void> {
  await withTemporal(context, async ({ client }) => {
    const run = await lastRunOf(client, workflowId);
    const command = run && jobCommandOf(run);
    if (!run || !command)
      throw new CommandFailedError(
        `Temporal has no job with the id ${workflowId}. List the jobs: fiscalflow jobs list; a sale: fiscalflow sale show`,
      );
    const lead = `${workflowId}, started ${nairobiTime(await chainStartMs(client, run))}: `;
    const closed = await closedRunOf(client, run);
    if (closed) {
      printResult(context, json, { workflowId, closed }, `${lead}${endedInWords(closed)}`);
      return;
    }
    if (run.status.name !== "RUNNING") {
      const result = await resultOf<never>(client, workflowId);
      printResult(context, json, { workflowId, result }, `${lead}has ended\n${command.resultText(result)}`);
      return;
    }
    const state: JobState<never> = await stateOfJob<never>(client, run);
    const business = attributesOf(run).get(SEARCH_ATTRIBUTES.business) ?? NO_BUSINESS;
    const scope = {
      connection: workflowId.split("/")[1] ?? DEFAULT_CONNECTION,
      ...(business !== NO_BUSINESS && command.argument === undefined && { businessId: business }),
    };
    const attentions = state.attentions.flatMap((one) => attentionLines(one, command, scope));
    printResult(
      context,
      json,
      { workflowId, state },
      [`${lead}${standingText(command, state)}`, ...attentions].join("\n"),
    );
  });
}
