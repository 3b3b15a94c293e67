import { defineQuery, setHandler } from "@temporalio/workflow";

import {
  type FindSaleInput,
  type FindSaleResult,
  type JobState,
  STATE_QUERY,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { runJobToCompletion } from "../job/run-job.ts";
import { main } from "../proxies.ts";

const stateQuery = defineQuery<JobState<{ answered: boolean }>>(STATE_QUERY);

/**
 * Asks the ledger for a sale that Temporal no longer knows, so that a caller needs no database. Its caller bounds it by
 * an execution timeout: the answer is for somebody who waits.
 */
export async function findSale(input: FindSaleInput): Promise<FindSaleResult> {
  let answered = false;
  setHandler(
    stateQuery,
    () => ({
      workflow: WORKFLOW_TYPES.findSale,
      waitingFor: answered ? "nothing" : "the ledger",
      progress: { answered },
      attentions: [],
      decisions: [],
    }),
    { description: "Whether the ledger has answered. What it answered is the workflow's result." },
  );
  return await runJobToCompletion(async () => {
    const result = await main.findSale("Ask the ledger for the sale", { input });
    answered = true;
    return result;
  });
}
