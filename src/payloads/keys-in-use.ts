import type { ConnectionLike } from "@temporalio/client";

import { keyIdOf } from "./codec.ts";

const CALL_MS = 10_000;
const PAGE = 1_000;

/**
 * The keys by which open runs were started and that are not among the known ones, each with the id of a workflow that
 * needs it. A run's memo is encrypted as its input is, and comes with the list. Without any known key only the newest
 * runs are looked at: nobody encrypts, as far as can be seen.
 * @param query of the open runs
 */
export async function keysBeyond(
  known: readonly string[],
  connection: ConnectionLike,
  { namespace, query }: { namespace: string; query: string },
): Promise<Map<string, string>> {
  const lacking = new Map<string, string>();
  let nextPageToken: Uint8Array | undefined;
  do {
    const request = { namespace, query, pageSize: PAGE, nextPageToken };
    const page = await connection.withDeadline(Date.now() + CALL_MS, () =>
      connection.workflowService.listWorkflowExecutions(request),
    );
    for (const { execution, memo } of page.executions)
      for (const payload of Object.values(memo?.fields ?? {})) {
        const id = keyIdOf(payload);
        if (id !== undefined && !known.includes(id)) lacking.set(id, execution?.workflowId ?? "");
      }
    ({ nextPageToken } = page);
  } while (known.length > 0 && nextPageToken.length > 0);
  return lacking;
}
