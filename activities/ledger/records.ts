import { Context } from "@temporalio/activity";

import type { LedgerActivities, MainActivities, SaveRecordRequest } from "../../src/contract/index.ts";
import { LedgerUnavailableError } from "../../src/ledger/index.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

/** For one record beside which somebody may wait for a sale's outcome: a transaction takes some milliseconds. */
const NOW_MS = 300;

/** A ledger that was away is not tried again by everybody who passes. */
const LEFT_ALONE_MS = 2_000;

export function createRecordActivities({
  ledger,
  nowMs,
  random,
}: LedgerContext): Pick<LedgerActivities, "saveRecord"> & Pick<MainActivities, "saveRecordNow"> {
  let awayUntilMs = 0;
  const save = async ({ connection, businessId, record }: SaveRecordRequest, withinMs?: number): Promise<void> => {
    await ledger.records.saveDocument({ connection, businessId }, record, writerOf(Context.current().info), withinMs);
  };

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
