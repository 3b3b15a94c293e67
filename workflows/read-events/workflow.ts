import { type ReadEventsInput, type ReadEventsResult, WORKFLOW_TYPES } from "../../src/contract/index.ts";
import { askLedger } from "../job/question.ts";
import { mainWaits } from "../proxies.ts";

/**
 * Reads a page of the ledger's events, so that a caller needs no database. Its caller bounds it by an execution
 * timeout: the answer is for somebody who waits.
 */
export async function readEvents(input: ReadEventsInput): Promise<ReadEventsResult> {
  return await askLedger(WORKFLOW_TYPES.readEvents, () =>
    mainWaits.readEvents("Read events from the ledger", { input }),
  );
}
