import { Context } from "@temporalio/activity";

import type { LedgerActivities } from "../../src/contract/index.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

/** Of each kind of finding: a result is for people, and all of them are in the ledger. */
const MOST_SHOWN = 20;

export function createPurchaseLedgerActivities({
  ledger,
  random,
}: LedgerContext): Pick<
  LedgerActivities,
  "beginPurchasesSync" | "unseenPurchases" | "windowsOfChangedPurchases" | "completePurchasesSync"
> {
  return {
    beginPurchasesSync: (sync) => onceThere(() => ledger.purchases.begin(sync), random),
    unseenPurchases: (sync) => onceThere(() => ledger.purchases.unseen(sync), random),
    windowsOfChangedPurchases: (sync) => onceThere(() => ledger.purchases.windowsOfChanged(sync), random),
    completePurchasesSync: (sync) =>
      onceThere(async () => {
        await ledger.purchases.complete(sync, writerOf(Context.current().info));
        const { total, byStatus, ...findings } = await ledger.purchases.summary(sync, MOST_SHOWN);
        return { total, byStatus, findings };
      }, random),
  };
}
