import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { withTemporal } from "./connect-temporal.ts";
import type { CliContext } from "./context.ts";
import { printNote, printResult } from "./output.ts";

/** A page of Temporal's list has at most so many. */
const LARGEST_PAGE = 1_000;

/** Prints what Temporal lists, up to a limit, and says where there is more. */
export async function listExecutions<Listed>(
  context: CliContext,
  { query, limit, json }: { query: string; limit: number; json?: boolean | undefined },
  listed: (executions: readonly WorkflowExecutionInfo[], client: Client) => Promise<Listed[]>,
  table: (all: readonly Listed[]) => string,
): Promise<void> {
  await withTemporal(context, async ({ client }) => {
    const found: WorkflowExecutionInfo[] = [];
    const pageSize = Math.min(limit, LARGEST_PAGE);
    for await (const execution of client.workflow.list({ query, pageSize })) {
      found.push(execution);
      if (found.length >= limit) break;
    }
    const { count } = await client.workflow.count(query);
    const rows = await listed(found, client);
    printResult(context, json, rows, rows.length === 0 ? "None." : table(rows));
    if (count > found.length) printNote(context, `${found.length} of ${count}; --limit shows more.`);
  });
}
