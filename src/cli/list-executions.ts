import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { withTemporal } from "./connect-temporal.ts";
import type { CliContext } from "./context.ts";
import { printNote, printResult } from "./output.ts";

/** A page of Temporal's list has at most so many. */
const LARGEST_PAGE = 1_000;

const ORDER = "open ones first, then the latest closed ones";

/** As Temporal lists them: what is open first, then what closed last; among what is open, what was started last. */
function asListed(one: WorkflowExecutionInfo, other: WorkflowExecutionInfo): number {
  const closedMs = ({ closeTime }: WorkflowExecutionInfo) => closeTime?.getTime() ?? Number.MAX_SAFE_INTEGER;
  return closedMs(other) - closedMs(one) || other.startTime.getTime() - one.startTime.getTime();
}

interface Wanted {
  query: string;
  limit: number;
  json?: boolean | undefined;
  /** What the query does not find, and belongs among what it does. */
  also?: ((client: Client) => Promise<WorkflowExecutionInfo[]>) | undefined;
}

/**
 * Prints what Temporal lists, up to a limit, and says where there is more.
 * @param remarks notes about the list as a whole: above the table, or as notes beside the JSON
 */
export async function listExecutions<Listed>(
  context: CliContext,
  { query, limit, json, also }: Wanted,
  listed: (executions: readonly WorkflowExecutionInfo[], client: Client) => Promise<Listed[]>,
  table: (all: readonly Listed[]) => string,
  remarks: (client: Client) => Promise<readonly string[]> = () => Promise.resolve([]),
): Promise<void> {
  await withTemporal(context, async ({ client }) => {
    const found: WorkflowExecutionInfo[] = [];
    const pageSize = Math.min(limit, LARGEST_PAGE);
    for await (const execution of client.workflow.list({ query, pageSize })) {
      found.push(execution);
      if (found.length >= limit) break;
    }
    const { count: ofQuery } = await client.workflow.count(query);
    const others = (await also?.(client)) ?? [];
    const count = ofQuery + others.length;
    found.push(...others);
    if (others.length > 0) found.sort(asListed);
    found.splice(limit);
    const [rows, said] = await Promise.all([listed(found, client), remarks(client)]);
    const lead = said.length === 0 ? "" : `${said.join("\n")}\n\n`;
    printResult(context, json, rows, `${lead}${rows.length === 0 ? "None." : table(rows)}`);
    if (json === true) for (const remark of said) printNote(context, remark);
    if (count > found.length) printNote(context, `${found.length} of ${count}, ${ORDER}; --limit shows more.`);
  });
}
