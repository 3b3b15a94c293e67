import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";

export interface HistoryEvent {
  workflowExecutionStartedEventAttributes?: { workflowType: { name: string } };
  activityTaskCancelRequestedEventAttributes?: unknown;
  upsertWorkflowSearchAttributesEventAttributes?: {
    workflowTaskCompletedEventId: string;
    searchAttributes: { indexedFields: Record<string, { data: string } | undefined> };
  };
}

export interface StoredHistory {
  /** Below the folder of the stored histories. */
  file: string;
  /** Of the workflow. */
  type: string;
  events: readonly HistoryEvent[];
}

const FOLDER = fileURLToPath(new URL("histories", import.meta.url));

/** Below the folder of the stored histories. */
export async function storedFiles(): Promise<Set<string>> {
  return new Set((await readdir(FOLDER, { recursive: true })).filter((file) => file.endsWith(".json")));
}

/**
 * Histories of runs, one of each shape. One that a release has promised (`test/promises/`) never changes, since a sale
 * that began under that release may still be open: a change to a workflow passes them all, or is patched.
 */
export async function storedHistories(): Promise<StoredHistory[]> {
  return await Promise.all(
    Array.from(await storedFiles(), async (file) => {
      const { events } = JSON.parse(await readFile(join(FOLDER, file), "utf8")) as Pick<StoredHistory, "events">;
      return { file, type: events[0]?.workflowExecutionStartedEventAttributes?.workflowType.name ?? "", events };
    }),
  );
}

/** The stages that a run has shown, in order: each is a change of its search attribute. */
export function stagesOf(events: readonly HistoryEvent[]): string[] {
  return events.flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => {
    const payload = upsert?.searchAttributes.indexedFields[SEARCH_ATTRIBUTES.stage];
    return payload ? [JSON.parse(Buffer.from(payload.data, "base64").toString("utf8")) as string] : [];
  });
}
