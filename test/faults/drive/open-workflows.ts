import type { Client } from "@temporalio/client";

import { SEARCH_ATTRIBUTES } from "../../../src/contract/index.ts";

/** A workflow that runs, as a search shows it to an operator. */
export interface OpenWorkflow {
  readonly workflowId: string;
  readonly type: string;
  readonly stage: string | undefined;
  readonly attention: string | undefined;
}

export async function openWorkflows(client: Client): Promise<OpenWorkflow[]> {
  const open: OpenWorkflow[] = [];
  for await (const { workflowId, type, searchAttributes } of client.workflow.list({
    query: "ExecutionStatus = 'Running'",
  })) {
    const text = (name: string): string | undefined => {
      const [value] = searchAttributes[name] ?? [];
      return typeof value === "string" ? value : undefined;
    };
    open.push({
      workflowId,
      type,
      stage: text(SEARCH_ATTRIBUTES.stage),
      attention: text(SEARCH_ATTRIBUTES.attention),
    });
  }
  return open;
}
