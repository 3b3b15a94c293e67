import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

import { scopeFlags } from "./resolving-commands.ts";
import { withoutFollowed, withWorkLeft } from "./runs.ts";
import { type Scope, scopeOf } from "./scope.ts";
import { visibilityQuery } from "./visibility-query.ts";

/** Each is looked at; a page of Temporal's list has at most so many. */
const MOST_LOOKED_AT = 1_000;

/**
 * How many sales ended without an outcome and are to be restarted; undefined where none is. They need
 * somebody, and no attention says so.
 */
export async function endedLine(client: Client, scope: Scope): Promise<string | undefined> {
  const query = visibilityQuery({ ...scopeOf(scope), ended: true });
  const executions: WorkflowExecutionInfo[] = [];
  for await (const execution of client.workflow.list({ query, pageSize: MOST_LOOKED_AT })) {
    executions.push(execution);
    if (executions.length >= MOST_LOOKED_AT) break;
  }
  const { length } = await withWorkLeft(await withoutFollowed(executions, client), client);
  if (length === 0) return undefined;
  const atLeast = executions.length >= MOST_LOOKED_AT ? "at least " : "";
  const who =
    length === 1
      ? "1 workflow ended without an outcome, and nothing carries it on until it is restarted"
      : `${length} workflows ended without an outcome, and nothing carries them on until they are restarted`;
  return `${atLeast}${who}: ${["fiscalflow sale list --ended", ...scopeFlags(scope)].join(" ")}`;
}
