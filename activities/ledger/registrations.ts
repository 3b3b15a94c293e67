import { Context } from "@temporalio/activity";

import { type ItemOutcomeKind, type LedgerActivities, noOutcomes } from "../../src/contract/index.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

/** Of each kind: a result is for people, and all of them are in the ledger. */
const MOST_SHOWN = 100;

export function createRegistrationActivities({
  ledger,
  random,
}: LedgerContext): Pick<LedgerActivities, "keepRegistrations" | "reportRegistrations"> {
  return {
    keepRegistrations: ({ batchId, outcomes, ...business }) =>
      onceThere(() => {
        const writer = writerOf(Context.current().info);
        return ledger.items.keep(business, { batchId, outcomes, writer });
      }, random),

    reportRegistrations: ({ batchId, ...business }) =>
      onceThere(async () => {
        const first = async (kind: ItemOutcomeKind) => {
          const page = await ledger.items.page(business, { kinds: [kind], batchId, most: MOST_SHOWN });
          return page.map(({ atMs: _atMs, ...outcome }) => outcome);
        };
        return {
          counts: { ...noOutcomes(), ...(await ledger.items.counts(business, batchId)) },
          needsData: await first("needs-data"),
          refused: await first("refused"),
          unknown: await first("unknown"),
          unclear: await first("unclear"),
        };
      }, random),
  };
}
