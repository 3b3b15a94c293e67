import { CancellationScope, condition, defineQuery, isCancellation, setHandler } from "@temporalio/workflow";

import { type JobReply, type JobState, STATE_QUERY } from "../../src/contract/index.ts";
import type { AttentionList } from "../operator/attention-list.ts";
import { registerOperatorUpdates, REPLY_SUMMARY, REPLY_WITHIN, visibleState } from "../operator/updates.ts";
import { asFailure, isFinal } from "../sdk/failures.ts";
import { everyUpdateIsAnswered } from "../sdk/interceptors.ts";

type AnyJob = AttentionList & { state(): JobState<object> };

const stateQuery = defineQuery<JobState<object>>(STATE_QUERY);

/** The messages of a job. To be called before the first await: an early message finds its handler. */
export function registerJobMessages(job: AnyJob): void {
  setHandler(stateQuery, () => job.state(), { description: "How far it is, and what an operator is needed for." });
  registerOperatorUpdates(job, (act, done) => actAndReply(job, act, done));
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

/** Acts, waits a little for what comes of it, and says so in the reply. */
export function actAndReply(job: AnyJob, act: () => unknown, done: string): Promise<JobReply> {
  return CancellationScope.nonCancellable(async () => {
    const before = visibleState(job);
    act();
    await condition(() => visibleState(job) !== before, REPLY_WITHIN, { summary: REPLY_SUMMARY });
    const [attention] = job.attentions;
    const message = `${done} It waits for ${job.waitingFor}.`;
    return { message, ...(attention && { attention: attention.code }) };
  });
}
