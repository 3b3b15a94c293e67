import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@temporalio/client";
import { Worker } from "@temporalio/worker";

import { WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { findTemporalCli } from "../../src/embedded/index.ts";

const execFileAsync = promisify(execFile);

export interface Replays {
  readonly replayed: number;
  /** Of histories that do not replay. */
  readonly errors: readonly string[];
}

/** Replays every history of the namespace against the bundled workflows. */
export async function replayHistories(client: Client, workflowBundle: { codePath: string }): Promise<Replays> {
  let replayed = 0;
  const errors: string[] = [];
  const types = Object.values(WORKFLOW_TYPES).map((type) => `'${type}'`);
  const histories = client.workflow
    .list({ query: `WorkflowType IN (${types.join(", ")})` })
    .intoHistories({ concurrency: 4 });
  // Errors come as results, not as throws, so each is looked at.
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    if (error) errors.push(`${workflowId} does not replay: ${error.message}`);
    replayed++;
  }
  return { replayed, errors };
}

/** @throws where a history of the namespace does not replay, or there is none */
export async function replayAll(client: Client, workflowBundle: { codePath: string }): Promise<void> {
  const { replayed, errors } = await replayHistories(client, workflowBundle);
  if (errors.length > 0) throw new Error(errors.join("\n"));
  if (replayed === 0) throw new Error("There was no history to replay.");
}

/**
 * Writes the namespace's histories into a folder, to be stored for good (`RECORD_HISTORIES=folder npx vitest run --project system …`),
 * without what belongs to the machine: identities and stack traces.
 */
export async function recordAll(
  client: Client,
  server: { address: string; namespace: string },
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const cli = await findTemporalCli({});
  const machine = new Set(["identity", "stackTrace", "binaryChecksum", "workerVersion"]);
  for await (const { workflowId, runId } of client.workflow.list()) {
    const run = [
      "--workflow-id",
      workflowId,
      "--run-id",
      runId,
      "--address",
      server.address,
      "--namespace",
      server.namespace,
    ];
    const shown = await execFileAsync(cli, ["workflow", "show", "--output", "json", ...run], { maxBuffer: 2 ** 28 });
    const history = JSON.parse(shown.stdout, (key, value: unknown) =>
      machine.has(key) ? undefined : value,
    ) as unknown;
    await writeFile(
      join(folder, `${workflowId.replace(/[^A-Za-z0-9-]+/g, "_")}_${runId.slice(-4)}.json`),
      JSON.stringify(history, null, 1),
    );
  }
}
