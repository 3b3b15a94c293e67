import { Context } from "@temporalio/activity";

import type { LedgerActivities } from "../../src/contract/index.ts";
import { writerOf } from "./claim-results.ts";
import type { LedgerContext } from "./movements.ts";
import { onceThere } from "./once-there.ts";

/** Documents that are read side by side. */
const PAGE = 20;

/** A result is for people, and all of them are in the ledger. */
const MOST_SHOWN = 50;

export function createReconcileLedgerActivities({
  ledger,
  random,
}: LedgerContext): Pick<LedgerActivities, "documentsToReconcile" | "reconcilePayments" | "reconcileFindings"> {
  return {
    documentsToReconcile: ({ connection, businessId, after }) =>
      onceThere(() => ledger.reconciliation.documents({ connection, businessId }, after, PAGE), random),
    reconcilePayments: ({ connection, businessId, accounting, rule }) =>
      onceThere(() => {
        const writer = writerOf(Context.current().info);
        return ledger.reconciliation.holdPayments({ connection, businessId }, { accounting, rule }, writer);
      }, random),
    reconcileFindings: ({ connection, businessId }) =>
      onceThere(() => ledger.reconciliation.findings({ connection, businessId }, MOST_SHOWN), random),
  };
}
