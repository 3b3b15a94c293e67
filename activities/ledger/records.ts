import { Context } from "@temporalio/activity";

import type { LedgerActivities } from "../../src/contract/index.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

export function createRecordActivities({ ledger, random }: LedgerContext): Pick<LedgerActivities, "saveRecord"> {
  return {
    saveRecord: ({ connection, businessId, record }) =>
      onceThere(async () => {
        const writer = writerOf(Context.current().info);
        const answer = await ledger.records.saveDocument({ connection, businessId }, record, writer);
        return answer === "saved" || answer === "unchanged" || answer === "older" ? "kept" : answer;
      }, random),
  };
}
