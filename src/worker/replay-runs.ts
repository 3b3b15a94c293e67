import type { Client } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import { pino } from "pino";

import { historyOf } from "../starter/runs.ts";
import { builtWorkflowBundle } from "./bundle-workflows.ts";
import { ACTIVATION_WITHIN } from "./create-workers.ts";
import { installRuntime } from "./install-runtime.ts";

interface Run {
  workflowId: string;
  runId: string;
}

export interface ReplayedRun extends Run {
  /** Why this build cannot carry the run on; undefined where it can. */
  reason?: string;
}

/** Replays these runs one after the other on the workflows of this build, in a worker that polls nothing. */
export async function* replayRuns(client: Client, runs: readonly Run[]): AsyncGenerator<ReplayedRun> {
  // The SDK logs each failure with its stack, and the results tell it too.
  await installRuntime({ log: pino({ level: "silent" }) });
  let current: Run | undefined;
  async function* histories() {
    for (const run of runs) {
      const history = await historyOf(client, run);
      if (!history) continue;
      current = run;
      yield { workflowId: run.workflowId, history };
    }
  }
  const options = { workflowBundle: builtWorkflowBundle(), isolateExecutionTimeout: ACTIVATION_WITHIN };
  // A result comes before the next history is asked for. Its own run id is that of the first run where one was reset.
  for await (const { error } of Worker.runReplayHistories(options, histories())) {
    const { workflowId = "", runId = "" } = current ?? {};
    yield { workflowId, runId, ...(error && { reason: reasonOf(error) }) };
  }
}

/** The SDK explains first what a replay is. */
function reasonOf(error: Error): string {
  const details = error.message.replace(/^.*? Details: /s, "");
  return error instanceof DeterminismViolationError
    ? `this build takes other steps than the run has taken: ${details}`
    : `this build fails at what the run has done: ${details}`;
}
