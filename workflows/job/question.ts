import { defineQuery, setHandler } from "@temporalio/workflow";

import { type JobState, STATE_QUERY, type WorkflowType } from "../../src/contract/index.ts";
import { runJobToCompletion } from "./job.ts";

const stateQuery = defineQuery<JobState<object>>(STATE_QUERY);

/** What a workflow shows of the one answer that it waits for. */
interface Question {
  workflow: WorkflowType;
  /** In words: what it waits for. */
  waitsFor: string;
  progress: (answered: boolean) => object;
  /** Of the `state` query. */
  description: string;
}

/** Runs a workflow that waits for one answer, for somebody who has asked. It takes no update. */
export async function runQuestion<Answer>(
  { workflow, waitsFor, progress, description }: Question,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  let answered = false;
  const state = (): JobState<object> => ({
    workflow,
    waitingFor: answered ? "nothing" : waitsFor,
    progress: progress(answered),
    attentions: [],
    decisions: [],
  });
  setHandler(stateQuery, state, { description });
  return await runJobToCompletion(async () => {
    const answer = await ask();
    answered = true;
    return answer;
  });
}

/** Runs a workflow that asks the ledger, so that its caller needs no database. */
export async function askLedger<Answer>(workflow: WorkflowType, ask: () => Promise<Answer>): Promise<Answer> {
  const description = "Whether the ledger has answered. What it answered is the workflow's result.";
  return await runQuestion(
    { workflow, waitsFor: "the ledger", progress: (answered) => ({ answered }), description },
    ask,
  );
}
