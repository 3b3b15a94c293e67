import { condition, defineQuery, isCancellation, setHandler } from "@temporalio/workflow";

import { type JobState, STATE_QUERY } from "../../src/contract/index.ts";
import type { AttentionList } from "../operator/attention-list.ts";
import { COMMON_UPDATES, registerUpdates, type UpdateTable } from "../operator/updates.ts";
import { asFailure, isFinal } from "../sdk/failures.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";

type AnyJob = AttentionList & { state(): JobState<object> };

const stateQuery = defineQuery<JobState<object>>(STATE_QUERY);

/** The messages of a job. To be called before the first await: an early message finds its handler. */
export function registerJobMessages<J extends AnyJob>(job: J, updates: UpdateTable<J> = COMMON_UPDATES): void {
  setHandler(stateQuery, () => job.state(), { description: "How far it is, and what an operator is needed for." });
  registerUpdates(job, updates);
}

/** Runs a job's main flow, and ends once every update has its answer. */
export async function runJobToCompletion<Result>(body: () => Promise<Result>): Promise<Result> {
  try {
    const result = await body();
    await condition(everyUpdateIsAnswered);
    return result;
  } catch (error) {
    if (error instanceof Error && isFinal(error) && !isCancellation(error)) throw asFailure(error);
    throw error;
  }
}
