import type { Command } from "commander";

import { wholeNumber } from "../arguments.ts";
import type { CliContext } from "../context.ts";
import { withFilters } from "../sale/scope.ts";
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
      .description("List the newest jobs, open and closed; with --attention, all that need an operator.")
      .option("--attention", "only jobs that need an operator")
      .option("--limit <number>", "maximum number of results", wholeNumber(1, 100_000), DEFAULT_LIMIT),
  )
    .addHelpText(
      "after",
      `
Above it stands what is wrong with the API or the accounting service, and since when, as the jobs that wait for it have met it.
The list is Temporal's, and follows the jobs by a second or so. What one needs an operator for, and the commands that resolve it, are shown by
the command that stands in its line.

Example:
  fiscalflow jobs list --attention`,
    )
    .action(async (flags: JobsFlags) => {
      const { listJobs } = await import("./list-jobs.ts");
      await listJobs(context, flags);
    });
}
