import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { withTemporal } from "./connect-temporal.ts";
import type { CliContext } from "./context.ts";
import { printNote, printResult } from "./output.ts";

/** A page of Temporal's list has at most so many. */
const LARGEST_PAGE = 1_000;

const ORDER = "open ones first, then the latest closed ones";

interface Wanted {
  query: string;
  limit: number;
  /** Whether several executions may be one row, so that Temporal's count of them is too high. */
  hasRunsBeside?: boolean;
  json?: boolean | undefined;
  /** What to say of a list without rows. */
  ofNone?: ((client: Client) => Promise<string | undefined>) | undefined;
}

/**
 * Prints what Temporal lists, up to a limit of rows, and says where there is more.
 * @param remarks notes about the list as a whole: above the table, or as notes beside the JSON
 */
export async function listExecutions<Listed>(
  context: CliContext,
  { query, limit, json, hasRunsBeside = false, ofNone }: Wanted,
  listed: (executions: readonly WorkflowExecutionInfo[], client: Client) => Promise<Listed[]>,
  table: (all: readonly Listed[]) => string,
  remarks: (client: Client) => Promise<readonly string[]> = () => Promise.resolve([]),
): Promise<void> {
  await withTemporal(context, async ({ client }) => {
    const [all, said] = await Promise.all([
      firstRows(client, { query, atLeast: limit + 1 }, (found) => listed(found, client)),
      remarks(client),
    ]);
    const rows = all.slice(0, limit);
    const lead = said.length === 0 ? "" : `${said.join("\n")}\n\n`;
    printResult(context, json, rows, `${lead}${rows.length === 0 ? "None." : table(rows)}`);
    if (json === true) for (const remark of said) printNote(context, remark);
    const empty = rows.length === 0 ? await ofNone?.(client) : undefined;
    if (empty !== undefined) printNote(context, empty);
    if (all.length <= limit) return;
    if (hasRunsBeside) {
      printNote(context, `There are more than these, ${ORDER}: --limit shows more.`);
      return;
    }
    const { count } = await client.workflow.count(query);
    printNote(context, `${rows.length} of ${count}, ${ORDER}; --limit shows more.`);
  });
}

/** The rows of as many executions as it takes, in the order of the list; fewer where there are no more. */
async function firstRows<Listed>(
  client: Client,
  { query, atLeast }: { query: string; atLeast: number },
  listed: (executions: readonly WorkflowExecutionInfo[]) => Promise<Listed[]>,
): Promise<Listed[]> {
  const pages = client.workflow.list({ query, pageSize: Math.min(atLeast, LARGEST_PAGE) })[Symbol.asyncIterator]();
  const found: WorkflowExecutionInfo[] = [];
  for (let wanted = atLeast; ; wanted *= 2) {
    let isWhole = false;
    while (!isWhole && found.length < wanted) {
      const next = await pages.next();
      if (next.done === true) isWhole = true;
      else found.push(next.value);
    }
    // Rows depend on each other: all that is found is looked at together.
    const rows = await listed(found);
    if (isWhole || rows.length >= atLeast) return rows;
  }
}
