import { workflowInfo } from "@temporalio/workflow";

/** Past this many events a run goes on as a new one, at its next step. A step is far shorter than what is left to 2,000. */
const MOST_EVENTS = 1_000;

/** Whether the history is long enough to go on in a new run. */
export function historyIsLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= MOST_EVENTS || continueAsNewSuggested;
}
