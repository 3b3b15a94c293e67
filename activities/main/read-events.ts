import { setTimeout as delay } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";

import { FAILURES, type MainActivities } from "../../src/contract/index.ts";
import { parseInput, readEventsInputSchema } from "../../src/contract/schema/index.ts";
import { CursorLostError, type Ledger } from "../../src/ledger/index.ts";
import { failOnInvalidInput, failOnLedgerAway, lookUpProfileFor, type Served } from "./prepare.ts";

const WHAT = "input of the reading of events";
const LOOK_PAUSE_MS = 500;

/**
 * As `findSale`: somebody waits for the answer, so it is not tried again until the ledger is there.
 * @param ending aborted when the worker ends: an activity hears of that itself only after the time of grace, and who
 *   follows the events asks again, of another worker
 */
export function createReadEvents(
  connections: ReadonlyMap<string, Served>,
  ledger: Pick<Ledger, "events">,
  ending: AbortSignal,
) {
  return {
    async readEvents({ input }) {
      const { business, after, waitSeconds } = failOnInvalidInput(() => {
        const { after: cursor, waitSeconds: seconds = 0, ...of } = parseInput(readEventsInputSchema, input ?? {}, WHAT);
        const { connection, businessId } = lookUpProfileFor(connections, of, WHAT);
        return { business: { connection, businessId }, after: cursor, waitSeconds: seconds };
      });
      const deadlineMs = performance.now() + waitSeconds * 1000;
      try {
        for (;;) {
          const events = await ledger.events.read(business, after);
          if (events.length > 0 || ending.aborted || performance.now() >= deadlineMs) return { events };
          await delay(LOOK_PAUSE_MS, undefined, { signal: Context.current().cancellationSignal });
        }
      } catch (error) {
        if (error instanceof CursorLostError) throw ApplicationFailure.nonRetryable(error.message, FAILURES.cursorLost);
        throw failOnLedgerAway(error);
      }
    },
  } satisfies Partial<MainActivities>;
}
