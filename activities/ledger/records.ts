import { Context } from "@temporalio/activity";

import type { LedgerActivities, MainActivities, SaveRecordRequest } from "../../src/contract/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

/** A transaction takes some milliseconds, and a workflow task waits for this one. */
const NOW_MS = 500;
/** A ledger that was away is not tried again by everybody who passes. */
const LEFT_ALONE_MS = 2_000;

export function createRecordActivities({
  ledger,
  nowMs,
  random,
}: LedgerContext): Pick<LedgerActivities, "saveRecord"> & Pick<MainActivities, "saveRecordNow"> {
  let awayUntilMs = 0;

  async function save({ connection, businessId, record }: SaveRecordRequest, withinMs?: number): Promise<void> {
    const writer = writerOf(Context.current().info);
    await ledger.records.saveDocument({ connection, businessId }, record, writer, withinMs);
  }

  return {
    async saveRecordNow(request) {
      if (nowMs() < awayUntilMs) return false;
      try {
        await save(request, NOW_MS);
        return true;
      } catch (error) {
        if (!(error instanceof LedgerUnavailableError)) throw error;
        awayUntilMs = nowMs() + LEFT_ALONE_MS;
        return false;
      }
    },

    saveRecord: (request) => onceThere(() => save(request), random),
  };
}
