import type { WorkflowExecutionInfo } from "@temporalio/client";

import {
  DEFAULT_CONNECTION,
  endedInWords,
  nairobiInstant,
  nairobiTime,
  NO_BUSINESS,
  SEARCH_ATTRIBUTES,
} from "../../contract/index.ts";
import type { KeptItemOutcome } from "../../ledger/index.ts";
import { endOf, lastRunOf, listedRuns } from "../../starter/runs.ts";
import { attributesOf } from "../../starter/sale-key.ts";
import { withTemporal } from "../connect-temporal.ts";
import { type CliContext, CommandFailedError } from "../context.ts";
import { businessOf, type ResultFlags, type Scope } from "../options.ts";
import { printResult } from "../output.ts";
import { serviceTroubles, troubleLine } from "../sale/service-troubles.ts";
import { jobsQuery } from "../sale/visibility-query.ts";
import { type Column, printList } from "../tables.ts";
import { withLedger } from "../with-ledger.ts";
import { itemLine, jobOf } from "./jobs.ts";
import { attentionLines, resultOf, standingText, stateOfJob } from "./run-job.ts";

export interface JobsFlags extends Scope, ResultFlags {
  attention?: boolean;
  limit: number;
}

interface ListedJob {
  type: string;
  business: string | null;
  attention: string | null;
  /** `running`, `completed`, `terminated` and so on. */
  status: string;
  /** Of its latest run, where it has continued as new. */
  startedAt: string;
  workflowId: string;
}

const COLUMNS: readonly Column<ListedJob>[] = [
  { head: "JOB", of: "workflowId" },
  { head: "STATUS", of: "status" },
  { head: "NEEDS AN OPERATOR", of: "attention" },
  { head: "STARTED", of: ({ startedAt }) => nairobiTime(Date.parse(startedAt)) },
];

export async function listJobs(context: CliContext, flags: JobsFlags): Promise<void> {
  const { limit, json } = flags;
  const query = jobsQuery(flags);
  await withTemporal(context, async ({ client }) => {
    const troubles = await serviceTroubles(client, flags, "jobs");
    const rows: ListedJob[] = [];
    for await (const execution of listedRuns(client, { query, pageSize: limit + 1 })) {
      if (rows.push(jobRow(execution)) > limit) break;
    }
    const more =
      rows.length > limit
        ? `${limit} of ${(await client.workflow.count(query)).count}, open ones first, then the latest closed ones; --limit shows more.`
        : undefined;
    const shown = rows.slice(0, limit);
    printList(context, json, { rows: shown, columns: COLUMNS, remarks: troubles.map(troubleLine), more });
  });
}

function jobRow(execution: WorkflowExecutionInfo): ListedJob {
  const { workflowId, type, status, startTime } = execution;
  const attributes = attributesOf(execution);
  const business = attributes.get(SEARCH_ATTRIBUTES.business);
  return {
    type,
    business: business === undefined || business === NO_BUSINESS ? null : business,
    attention: attributes.get(SEARCH_ATTRIBUTES.attention) ?? null,
    status: status.name.toLowerCase().replace("_", "-"),
    startedAt: nairobiInstant(startTime.getTime()),
    workflowId,
  };
}

/**
 * Prints where a job stands, with the commands that resolve what it needs an operator for, or what it ended with.
 * @throws CommandFailedError; NoAnswerError where no worker answers for a job that runs
 */
export async function showJob(context: CliContext, workflowId: string, { json }: ResultFlags): Promise<void> {
  await withTemporal(context, async ({ client }) => {
    const run = await lastRunOf(client, workflowId);
    const job = run && jobOf(run);
    if (!run || !job)
      throw new CommandFailedError(
        `Temporal has no job with the id ${workflowId}. List the jobs: fiscalflow jobs list; a sale: fiscalflow sale show`,
      );
    const lead = `${workflowId}, started ${nairobiTime(run.startTime.getTime())}: `;
    const { closed } = (await endOf(client, run)) ?? {};
    if (closed) return printResult(context, json, { workflowId, closed }, `${lead}${endedInWords(closed)}`);
    if (run.status.name !== "RUNNING") {
      const result = await resultOf<never>(client, workflowId);
      return printResult(context, json, { workflowId, result }, `${lead}has ended\n${job.resultText(result)}`);
    }
    const state = await stateOfJob<never>(client, run);
    const business = attributesOf(run).get(SEARCH_ATTRIBUTES.business) ?? NO_BUSINESS;
    const scope = {
      connection: workflowId.split("/")[1] ?? DEFAULT_CONNECTION,
      ...(business !== NO_BUSINESS && job.argument === undefined && { businessId: business }),
    };
    const attentions = state.attentions.flatMap((one) => attentionLines(one, job, scope));
    const text = [`${lead}${standingText(job, state)}`, ...attentions].join("\n");
    printResult(context, json, { workflowId, state }, text);
  });
}

const PAGE = 500;

/** The items that are not registered, from the ledger: no call of the API, and no Temporal. */
export async function reportItems(context: CliContext, flags: Scope & ResultFlags): Promise<void> {
  await withLedger(
    context,
    async (ledger, config) => {
      const business = businessOf(config, flags);
      const items: KeptItemOutcome[] = [];
      for (let page: KeptItemOutcome[] | undefined; page === undefined || page.length === PAGE;) {
        page = await ledger.items.page(business, {
          kinds: ["needs-data", "refused", "unknown", "unclear"],
          afterItem: items.at(-1)?.item,
          most: PAGE,
        });
        items.push(...page);
      }
      const text = items.length === 0 ? "No item is known to lack anything." : items.map(itemLine).join("\n");
      printResult(context, flags.json, { ...business, items }, text);
    },
    { quiet: flags.json, mayBeEmpty: true },
  );
}
