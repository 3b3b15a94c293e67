import type { Command } from "commander";

import { wholeNumber } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { type ResultFlags, withFilters } from "../sale/scope.ts";
import type { JobsFlags } from "./list-jobs.ts";

const DEFAULT_LIMIT = 50;

export function registerJobs(program: Command, context: CliContext): void {
  const jobs = program
    .command("jobs")
    .description("Manage background jobs: registrations, synchronisations, sync batches, reconciliations.")
    .addHelpText(
      "after",
      `
Example: every job that needs an operator
  fiscalflow jobs list --attention`,
    );
  withFilters(
    jobs
      .command("list")
      .description("List jobs: open ones first, then closed ones, the latest of each first.")
      .option("--attention", "only jobs that need an operator")
      .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), DEFAULT_LIMIT),
  )
    .addHelpText(
      "after",
      `
Above it stands what is wrong with the API or the accounting service, and since when, as the jobs that wait for it have met it.
The list is Temporal's, and follows the jobs by a second or so.

Example:
  fiscalflow jobs list --attention`,
    )
    .action(async (flags: JobsFlags) => {
      const { listJobs } = await import("./list-jobs.ts");
      await listJobs(context, flags);
    });
  jobs
    .command("show")
    .description("Show where a job stands and the commands that resolve what it needs an operator for, or its result.")
    .argument("<job>", "its workflow id, as `jobs list` shows it")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      `
Example:
  fiscalflow jobs show sync-purchases/default/biz_1`,
    )
    .action(async (job: string, flags: ResultFlags) => {
      const { showJob } = await import("./show-job.ts");
      await showJob(context, job, flags);
    });
}
